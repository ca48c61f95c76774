package reports

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"io"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
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
	Counts  []pageCount
	Kinds   []pageKind
	// Unchanged is the number of unchanged resources.
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

type pageCount struct{ Class, Sign, Text string }

type pageKind struct{ Class, Text, Type string }

type pagePolicy struct{ Level, Policy, Subject, Text string }

type pageRename struct{ Text, Alias string }

type pageLine struct{ Class, Sign, Text string }

type pageWaves struct {
	Root  string
	Waves []string
}

type pageStep struct{ Subject, Doing, Took, Waited string }

// pageData is the JSON for the script.
type pageData struct {
	Rows []pageRow `json:"rows"`
	// Span is the duration of the operation in milliseconds.
	Span float64 `json:"span"`
	// Critical are the rows on the critical path.
	Critical []int `json:"critical"`
	// Boxes are the rows after which the boxes of the drawing are named.
	Boxes []int `json:"boxes,omitempty"`
}

// pageRow is a resource. Keys are short because there can be many rows; rows are referred to by index.
type pageRow struct {
	Name      string      `json:"n"`
	Type      string      `json:"t"`
	Parent    int         `json:"p"` // -1 for none
	Class     string      `json:"c"`
	Danger    int         `json:"g"`
	Sign      string      `json:"s"`
	Fate      string      `json:"f"`
	Unchanged bool        `json:"u,omitempty"`
	Trouble   bool        `json:"x,omitempty"`
	Full      string      `json:"urn"`
	ID        string      `json:"i,omitempty"`
	Position  string      `json:"l,omitempty"`
	Why       string      `json:"w,omitempty"`
	Causes    []int       `json:"y,omitempty"`
	Lines     [][2]string `json:"d,omitempty"`
	Messages  [][2]string `json:"m,omitempty"`
	Steps     []pageBar   `json:"b,omitempty"`
	Needs     []int       `json:"k,omitempty"`
}

// pageBar is a step on the timeline: milliseconds since the operation began.
type pageBar struct {
	Doing  string  `json:"o"`
	From   float64 `json:"a"`
	To     float64 `json:"z"`
	Failed bool    `json:"x,omitempty"`
	Open   bool    `json:"q,omitempty"` // its end is not known
}

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

// class and sign are those of the operation, or of trouble.
func (c count) class() string {
	if c.Op == "" {
		return "delete"
	}
	return classOf(c.Op)
}

func (c count) sign() string {
	if c.Op == "" {
		return "✗"
	}
	return strings.TrimSpace(display.Sign(c.Op))
}

func newPage(ctx context.Context, d *Document) *page {
	p := &page{
		Title: d.title(), When: d.when(), Sluice: d.Operation.Sluice, Remark: display.Clean(d.Operation.Message), Corrupt: d.Summary.MaybeCorrupt,
		Messages: d.untold(), Omitted: d.Omitted, Failure: d.Failure, Graph: d.draw(ctx),
	}
	more := 0
	if p.Causes, more = d.rootCauses(maxRootCauses); more > 0 {
		p.MoreCauses = thousands(more)
	}
	for _, r := range d.aliases() {
		p.Renames = append(p.Renames, pageRename{r.text(), display.CleanLine(r.Alias)})
	}
	changes, unchanged := d.tally()
	for _, c := range changes {
		p.Counts = append(p.Counts, pageCount{c.class(), c.sign(), c.Text})
	}
	if unchanged > 0 {
		p.Unchanged = thousands(unchanged) + " unchanged"
	}
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
	p.Path = plural(len(d.CriticalPath), "step", "steps")
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
			out = append(out, pageKind{classOf(op), thousands(k.n) + " × " + display.Done(op, d.Operation.Preview), display.ShortType(k.typ)})
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
			out.Waves = append(out.Waves, plural(len(w.Waves)-i, "more wave", "more waves"))
			break
		}
		names := make([]string, 0, min(len(wave), most)+1)
		for k, u := range wave {
			if k == most {
				names = append(names, thousands(len(wave)-k)+" more")
				break
			}
			names = append(names, display.CleanLine(u.Name()))
		}
		out.Waves = append(out.Waves, strings.Join(names, ", "))
	}
	return out
}

func dataOf(d *Document) pageData {
	out := pageData{Rows: make([]pageRow, 0, len(d.Resources)), Critical: []int{}}
	at := make(map[urn.URN]int, len(d.Resources))
	for i := range d.Resources {
		at[d.Resources[i].URN] = i
	}
	began := d.Operation.Began
	for i := range d.Resources {
		for _, s := range d.Resources[i].Steps {
			if began.IsZero() || s.Began.Before(began) {
				began = s.Began
			}
		}
	}
	for i := range d.Resources {
		row := d.row(&d.Resources[i], at, began)
		for _, b := range row.Steps {
			out.Span = max(out.Span, b.To)
		}
		out.Rows = append(out.Rows, row)
	}
	for _, s := range d.CriticalPath {
		out.Critical = append(out.Critical, at[s.URN])
	}
	return out
}

func (d *Document) row(r *Resource, at map[urn.URN]int, began time.Time) pageRow {
	row := pageRow{
		Name: display.CleanLine(r.Name), Type: display.ShortType(r.Type), Parent: -1, Class: classOf(r.Operation), Danger: r.danger(),
		Sign: strings.TrimSpace(display.Sign(r.Operation)), Fate: d.fate(r), Unchanged: r.Status == Unchanged, Full: display.CleanLine(string(r.URN)),
		ID: display.CleanLine(r.ID), Position: display.CleanLine(r.Position),
		Trouble: r.Status == Failing || r.Status == Unfinished || r.Status == Skipped || r.Status == NotReached || r.Status == Kept,
	}
	if i, known := at[r.Parent]; known {
		row.Parent = i
	}
	if row.Unchanged {
		row.Class, row.Sign = "same", ""
	}
	if r.Reason != nil {
		row.Why, row.Causes = cmp.Or(r.why(), display.CleanLine(r.Reason.Text)), numbers(r.Reason.Causes, at)
	}
	row.Needs = numbers(r.DependsOn, at)
	for _, c := range r.Changes {
		for _, l := range diffLines(c) {
			row.Lines = append(row.Lines, [2]string{l.sign, l.text})
		}
	}
	if r.More > 0 {
		row.Lines = append(row.Lines, [2]string{" ", plural(r.More, "more change", "more changes")})
	}
	if r.Error != "" {
		row.Messages = append(row.Messages, [2]string{"error", r.Error})
	}
	for _, m := range r.Messages {
		row.Messages = append(row.Messages, [2]string{m.Severity, m.Text})
	}
	for _, s := range r.Steps {
		ended := s.Ended
		if ended.IsZero() {
			ended = d.Operation.Ended
		}
		row.Steps = append(row.Steps, pageBar{
			display.Doing(s.Operation), milliseconds(s.Began.Sub(began)), milliseconds(ended.Sub(began)), s.Failed, s.Ended.IsZero(),
		})
	}
	return row
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}

func numbers(us []urn.URN, at map[urn.URN]int) []int {
	var out []int
	for _, u := range us {
		if i, known := at[u]; known {
			out = append(out, i)
		}
	}
	return out
}
