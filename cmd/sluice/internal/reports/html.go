package reports

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/stages"
)

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// WriteHTML writes a self-contained page: it makes no request, even when it is opened from a disk. It draws only the visible rows, whatever
// their number.
func WriteHTML(ctx context.Context, out io.Writer, d *Document) error {
	page, err := newPage(ctx, d).node()
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(out, 1<<16)
	if err := page.Render(b); err != nil {
		return err
	}
	return b.Flush()
}

// page is the content of the page. Texts of programs and providers contain no control characters.
type page struct {
	Title   string
	When    string
	Sluice  string
	Remark  string // of the user
	Corrupt bool
	Counts  []count
	Kinds   []pageKind
	// Unchanged counts the unchanged resources.
	Unchanged  string
	Failure    string
	Causes     []string
	MoreCauses string // the number of those left out
	Renames    []pageRename
	Messages   []Message
	Graph      picture
	Policies   []pagePolicy
	Outputs    []pageLine
	Waves      []pageWaves
	Critical   []pageStep
	Path       string // the number of its steps
	Omitted    *Omitted
	Timeline   bool
	Data       pageData
}

// contentPolicy forbids the page to load anything.
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// node returns the page. Package gomponents escapes the texts; package json escapes texts that would end the script element.
//
// It does not use package html/template, which calls methods by name. The linker would then have to keep every exported method of
// every type, a fifth of the program (decision 0113).
func (p *page) node() (g.Node, error) {
	data, err := json.Marshal(p.Data)
	if err != nil {
		return nil, err
	}
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(h.Name("referrer"), h.Content("no-referrer")),
			h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(contentPolicy)),
			h.TitleEl(g.Text(p.Title)),
			h.StyleEl(g.Raw(pageStyle)),
		),
		h.Body(
			p.header(),
			h.Main(p.failure(), p.messages(), p.policies(), p.kinds(), p.causes(), p.renames(), resourceSection(), p.graph(), p.timeline(), p.waves(), p.outputs()),
			h.Footer(g.Text("sluice "+p.Sluice)),
			h.Script(h.Type("application/json"), h.ID("data"), g.Raw(string(data))), g.Text("\n"),
			h.Script(g.Raw(pageScript)),
		),
	)), nil
}

// bdi isolates a name, so that one written from right to left does not reorder its surroundings.
func bdi(text string) g.Node { return g.El("bdi", g.Text(text)) }

func notice(text string) g.Node { return h.P(h.Class("note"), g.Text(text)) }

func (p *page) header() g.Node {
	counts := g.Map(p.Counts, func(c count) g.Node {
		return h.Span(h.Class("count "+c.class), h.B(g.Text(c.sign)), g.Text(" "+c.text))
	})
	if len(counts) == 0 && p.Unchanged == "" {
		counts = g.Group{h.Span(h.Class("count same"), g.Text("nothing changes"))}
	}
	return h.Header(
		h.H1(g.Text(p.Title)),
		h.P(h.Class("when"), g.Text(p.When), g.If(p.Remark != "", g.Group{g.Text(" — "), bdi(p.Remark)})),
		h.P(h.Class("counts"), counts, g.If(p.Unchanged != "", h.Span(h.Class("count same"), g.Text(p.Unchanged)))),
		g.If(p.Corrupt, notice("The outcome of an operation on a resource is not known: refresh the stack.")),
		g.Iff(p.Omitted != nil && p.Omitted.Details > 0, func() g.Node {
			return notice(format.Thousands(p.Omitted.Details) + " resources are without their properties and messages, because there are too many.")
		}),
	)
}

func (p *page) failure() g.Node {
	return g.If(p.Failure != "", h.Section(h.ID("failure"), h.H2(g.Text("Why it failed")), h.Pre(h.Class("message error"), g.Text(p.Failure))))
}

func (p *page) messages() g.Node {
	return g.If(len(p.Messages) > 0, h.Section(h.ID("messages"), h.H2(g.Text("Messages")), g.Map(p.Messages, func(m Message) g.Node {
		return h.Pre(h.Class("message "+m.Severity), h.B(g.Text(m.Severity+":")), g.Text(" "+m.Text))
	})))
}

func (p *page) policies() g.Node {
	return g.If(len(p.Policies) > 0, h.Section(h.ID("policies"), h.H2(g.Text("Policies")), h.Ul(g.Map(p.Policies, func(v pagePolicy) g.Node {
		return h.Li(h.B(g.Text(v.Level)), g.Text(" "), bdi(v.Policy), g.Text(" — "), bdi(v.Subject), h.Pre(g.Text(v.Text)))
	}))))
}

func (p *page) kinds() g.Node {
	return g.If(len(p.Kinds) > 0, folded("kinds", "Counts by type", h.Ul(g.Map(p.Kinds, func(k pageKind) g.Node {
		return h.Li(h.Class(k.Class), g.Text(k.Text+" "), bdi(k.Type))
	}))))
}

func (p *page) causes() g.Node {
	return g.If(len(p.Causes) > 0, h.Section(h.ID("causes"), h.H2(g.Text("Root causes")), h.Ul(
		g.Map(p.Causes, func(cause string) g.Node { return h.Li(bdi(cause)) }),
		g.If(p.MoreCauses != "", h.Li(g.Text("and "+p.MoreCauses+" more"))),
	)))
}

func (p *page) renames() g.Node {
	return g.If(len(p.Renames) > 0, h.Section(h.ID("renames"), h.H2(g.Text("Renamed?")),
		h.P(g.Text("What is deleted looks like what is created. An alias keeps a resource under its new name:")),
		h.Ul(g.Map(p.Renames, func(r pageRename) g.Node { return h.Li(bdi(r.Text), h.Pre(g.Text(r.Alias))) })),
	))
}

// graph shows a drawing, in which Graphviz has escaped the texts.
func (p *page) graph() g.Node {
	drawing := func() g.Node {
		return g.Group{
			h.P(h.Class("tools"),
				button("smaller", "−", h.Aria("label", "smaller")), g.Text(" "), button("larger", "+", h.Aria("label", "larger")), g.Text(" "),
				button("fit", "fit"), g.Text(" "), button("actual", "actual size"), g.Text(" "),
				h.Span(h.Class("same"), g.Text("Select a box to open it in the list.")),
			),
			h.Div(h.ID("drawing"), h.Class("list"), h.TabIndex("0"), h.Aria("label", "Graph of what changes"), g.Raw(p.Graph.SVG)),
		}
	}
	return g.If(p.Graph.SVG != "" || p.Graph.Note != "", h.Section(h.ID("graph"), h.H2(g.Text("What changes, and what needs it")),
		h.P(h.Class("same"), g.If(p.Graph.SVG != "", g.Text("Arrows run to what needs a resource. ")), g.Text(p.Graph.Note)),
		g.Iff(p.Graph.SVG != "", drawing),
	))
}

func button(id, text string, with ...g.Node) g.Node {
	return h.Button(h.ID(id), h.Type("button"), g.Group(with), g.Text(text))
}

// resourceSection is the element that the script fills with the resources.
func resourceSection() g.Node {
	const find = "Find names, types, URNs"
	option := func(value, text string) g.Node { return h.Option(h.Value(value), g.Text(text)) }
	return h.Section(h.ID("resources"), h.H2(g.Text("Resources")),
		h.NoScript(notice("The list of resources needs JavaScript. `sluice report` writes the same as Markdown and JSON.")),
		h.P(h.Class("tools"),
			h.Input(h.ID("find"), h.Type("search"), h.Placeholder(find), h.Aria("label", find)),
			h.Select(h.ID("arrange"), h.Aria("label", "Arrange"),
				option("parts", "as components"), option("needs", "as what depends on what"), option("danger", "most dangerous first")),
			h.Label(h.Input(h.ID("sames"), h.Type("checkbox")), g.Text(" show unchanged")),
			button("fold", "fold all"), g.Text(" "), button("unfold", "unfold all"),
			h.Span(h.ID("shown"), h.Role("status")),
		),
		h.Div(h.Class("panes"),
			h.Div(h.ID("rows"), h.Class("list"), h.TabIndex("0"), h.Role("tree"), h.Aria("label", "Resources")),
			h.Aside(h.ID("open"), h.Aria("live", "polite"), h.P(g.Text("Select a resource to see what changes, and why."))),
		),
	)
}

func (p *page) timeline() g.Node {
	return g.If(p.Timeline, h.Section(h.ID("timeline"), h.H2(g.Text("What ran when")),
		h.P(h.Class("axis"), h.ID("axis")),
		h.Div(h.ID("bars"), h.Class("list"), h.TabIndex("0"), h.Role("list"), h.Aria("label", "Steps in the order in which they began")),
		g.If(len(p.Critical) > 0, folded("", "Critical path: "+p.Path+", marked with ◆", h.Ol(g.Map(p.Critical, func(s pageStep) g.Node {
			return h.Li(g.Text(s.Doing+" "), bdi(s.Subject), g.Text(": "+s.Took+", after waiting "+s.Waited))
		})))),
	))
}

func (p *page) waves() g.Node {
	return g.If(len(p.Waves) > 0, folded("waves", "Waves of deletion", g.Map(p.Waves, func(w pageWaves) g.Node {
		title := g.Group{g.Text("When the program has ended:")}
		if w.Root != "" {
			title = g.Group{g.Text("With "), bdi(w.Root), g.Text(", which is replaced:")}
		}
		return g.Group{h.P(title), h.Ol(g.Map(w.Waves, func(names string) g.Node { return h.Li(bdi(names)) }))}
	})))
}

func (p *page) outputs() g.Node {
	return g.If(len(p.Outputs) > 0, h.Details(h.ID("outputs"), g.Attr("open"), h.Summary(g.Text("Outputs")),
		h.Pre(h.Class("diff"), g.Map(p.Outputs, func(l pageLine) g.Node {
			return h.Span(g.If(l.Class != "", h.Class(l.Class)), g.Text(l.Sign+" "+l.Text+"\n"))
		}))))
}

type pageKind struct{ Class, Text, Type string }

type pagePolicy struct{ Level, Policy, Subject, Text string }

type pageRename struct{ Text, Alias string }

type pageLine struct{ Class, Sign, Text string }

type pageWaves struct {
	Root  string
	Waves []string
}

type pageStep struct{ Subject, Doing, Took, Waited string }

// classOf groups operations by appearance.
func classOf(op stages.Op) string {
	switch op {
	case stages.OpDelete, stages.OpDiscard, stages.OpDeleteReplaced, stages.OpDiscardReplaced:
		return "delete"
	case stages.OpReplace, stages.OpCreateReplacement, stages.OpReadReplacement, stages.OpImportReplacement:
		return "replace"
	case stages.OpUpdate, stages.OpRefresh:
		return "update"
	case stages.OpCreate, stages.OpImport:
		return "create"
	}
	return "same"
}

func newPage(ctx context.Context, d *Document) *page {
	p := &page{
		Title: d.Operation.title(), When: d.Operation.when(), Sluice: d.Operation.Sluice, Remark: display.Clean(d.Operation.Message), Corrupt: d.Summary.MaybeCorrupt,
		Messages: d.untold(), Omitted: d.Omitted, Failure: d.Failure, Graph: pictureOf(ctx, d),
	}
	more := 0
	if p.Causes, more = d.rootCauses(maxRootCauses); more > 0 {
		p.MoreCauses = format.Thousands(more)
	}
	for _, r := range d.aliases() {
		p.Renames = append(p.Renames, pageRename{r.text(), display.CleanLine(r.Alias)})
	}
	p.Counts, p.Unchanged = tallyOf(d).changes(), tallyOf(d).unchanged()
	p.Kinds = kindsOf(d)
	for _, v := range d.Policies {
		p.Policies = append(p.Policies, pagePolicy{
			v.Level, display.CleanLine(v.Pack + " " + v.Version + ": " + v.Policy), subject(v.URN), display.Clean(v.Text),
		})
	}
	for _, c := range d.Outputs {
		for _, l := range diffLines(c) {
			p.Outputs = append(p.Outputs, pageLine{map[string]string{"+": "added", "-": "removed"}[l.sign], l.sign, l.text})
		}
	}
	for _, w := range d.DeletionWaves {
		p.Waves = append(p.Waves, wavesOf(w))
	}
	for _, s := range d.CriticalPath {
		p.Critical = append(p.Critical, pageStep{subject(s.URN), display.Doing(s.Operation), ofSeconds(s.Seconds), ofSeconds(s.Waited)})
	}
	p.Path = format.PluralThousands(len(d.CriticalPath), "step", "steps")
	p.Data = dataOf(d)
	p.Data.Boxes = p.Graph.Heads
	p.Timeline = p.Data.Span > 0
	return p
}

func ofSeconds(s float64) string { return took(time.Duration(s * float64(time.Second))) }

// kindsOf counts changes by operation and type, the most dangerous first.
func kindsOf(d *Document) []pageKind {
	var out []pageKind
	for _, op := range display.ByDanger() {
		for _, k := range sortedCounts(d.Summary.Types[op]) {
			out = append(out, pageKind{classOf(op), format.Thousands(k.n) + " × " + display.Done(op, d.Operation.Preview), display.ShortType(k.typ)})
		}
	}
	return out
}

func wavesOf(w Waves) pageWaves {
	out := pageWaves{}
	if w.Root != "" {
		out.Root = subject(w.Root)
	}
	const most = 100
	for i, wave := range w.Waves {
		if i == most {
			out.Waves = append(out.Waves, format.PluralThousands(len(w.Waves)-i, "more wave", "more waves"))
			break
		}
		names := make([]string, 0, min(len(wave), most)+1)
		for k, u := range wave {
			if k == most {
				names = append(names, format.Thousands(len(wave)-k)+" more")
				break
			}
			names = append(names, display.CleanLine(u.Name()))
		}
		out.Waves = append(out.Waves, strings.Join(names, ", "))
	}
	return out
}

func folded(id, title string, content ...g.Node) g.Node {
	return h.Details(g.If(id != "", h.ID(id)), h.Summary(g.Text(title)), g.Group(content))
}
