package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

// Check refuses files for which there is no form.
func Check(paths []string) error {
	for _, p := range paths {
		if !slices.Contains([]string{".html", ".md", ".json"}, filepath.Ext(p)) {
			return fmt.Errorf("--report %s: the name of a report ends in .html, .md or .json", p)
		}
		if info, err := os.Stat(filepath.Dir(p)); err != nil || !info.IsDir() {
			return fmt.Errorf("--report %s: there is no folder %s", p, filepath.Dir(p))
		}
	}
	return nil
}

// Write writes a report to each of the files.
func Write(paths []string, id string, v run.View) error {
	for _, p := range paths {
		var text []byte
		var err error
		switch filepath.Ext(p) {
		case ".json":
			text, err = asJSON(id, v)
		case ".md":
			text = []byte(Markdown(id, v))
		default:
			text, err = page(id, v)
		}
		if err == nil {
			err = private.Write(p, text)
		}
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	return nil
}

// Version is the version of the JSON format of reports.
const Version = 1

func asJSON(id string, v run.View) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Version int    `json:"version"`
		Run     string `json:"run"`
		run.View
	}{Version, id, v})
	return b.Bytes(), err
}

// title describes the operation and how it ended.
func title(v run.View) string {
	counts := v.Counts()
	var parts []string
	for _, status := range []run.Status{run.Failed, run.Refused, run.Skipped, run.Canceled, run.Succeeded, run.Unchanged} {
		if counts[status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[status], status.Word()))
		}
	}
	return fmt.Sprintf("%s: %s of %d stacks, %s", v.Fleet, v.Operation, len(v.Stacks), strings.Join(parts, ", "))
}

// row has the fields of a stack that all forms show.
type row struct{ name, status, changes, why, took string }

func rows(v run.View) []row {
	var out []row
	for _, s := range v.Stacks {
		r := row{name: s.Name, status: s.Status.Word(), changes: changes(s)}
		if r.why = s.Why; s.Log != "" {
			r.why, _, _ = strings.Cut(s.Why, "\n") // the log has the rest
		}
		if s.Approval != nil && s.Approval.Granted {
			r.why = strings.TrimPrefix(r.why+"; approved by "+s.Approval.By, "; ")
		}
		if !s.Began.IsZero() && !s.Ended.IsZero() {
			r.took = s.Ended.Sub(s.Began).Round(100 * time.Millisecond).String()
		}
		out = append(out, r)
	}
	return out
}

func changes(s run.StackView) string {
	if s.Drift != nil {
		return fmt.Sprintf("%d of %d moved", s.Drift.Moved, s.Drift.Read)
	}
	return s.ChangesText()
}

// Markdown returns the report for a pull request.
func Markdown(id string, v run.View) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| stack | | changes | why | took |\n|---|---|---|---|---|\n", cell(title(v)))
	for _, r := range rows(v) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(r.name), r.status, cell(r.changes), cell(r.why), r.took)
	}
	for _, s := range v.Stacks {
		if s.Log != "" {
			fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", cell(s.Name), fenced(s.Log))
		}
	}
	fmt.Fprintf(&b, "\n`%s`\n", id)
	return b.String()
}

var escaper = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "\n", " ", "\r", " ", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "~", "\\~", "#", "\\#")

// reference matches the texts that services link: "@user", issues and others, "#1", and "GH-1". A link would notify its user or mark its issue.
var reference = regexp.MustCompile(`[@#!~%$&][\pL\pN_"]|\b[Gg][Hh]-[0-9]`)

// lineEnds joins lines, because a cell of a table has only one.
var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// cell escapes a text for a table so that it links nothing: an invisible comment separates the sign from the name. An HTML entity would not
// prevent the link, as services scan the rendered text.
func cell(text string) string {
	text = printable.Line(lineEnds.Replace(text))
	var b strings.Builder
	from := 0
	for _, at := range reference.FindAllStringIndex(text, -1) {
		_, last := utf8.DecodeLastRuneInString(text[:at[1]])
		b.WriteString(escaper.Replace(text[from:at[1]-last]) + "<!-- -->")
		from = at[1] - last
	}
	return b.String() + escaper.Replace(text[from:])
}

// fenced returns a text in a fence that is longer than any inside it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(printable.Text(text), "\n") + "\n" + fence
}

const style = `body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em;color-scheme:light dark}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3em .8em;border-bottom:1px solid #8884;vertical-align:top}
pre{overflow:auto;background:#8881;padding:1em}.failed,.refused{color:#d33}.succeeded{color:#2a2}.skipped,.cancelled{color:#b80}.unchanged{opacity:.6}`

func page(id string, v run.View) ([]byte, error) {
	var logs g.Group
	for _, s := range v.Stacks {
		if s.Log != "" {
			logs = append(logs, h.H2(g.Text(s.Name)), h.Pre(g.Text(s.Log)))
		}
	}
	var b bytes.Buffer
	err := h.Doctype(h.HTML(h.Lang("en"),
		h.Head(h.Meta(h.Charset("utf-8")), h.TitleEl(g.Text(title(v))), h.StyleEl(g.Raw(style))),
		h.Body(h.H1(g.Text(title(v))),
			h.P(g.Textf("%s, begun %s by %s", id, v.Began.UTC().Format(time.DateTime), v.By)),
			h.Table(
				h.THead(h.Tr(h.Th(g.Text("stack")), h.Th(), h.Th(g.Text("changes")), h.Th(g.Text("why")), h.Th(g.Text("took")))),
				h.TBody(g.Map(rows(v), func(r row) g.Node {
					return h.Tr(h.Td(g.Text(r.name)), h.Td(h.Class(r.status), g.Text(r.status)), h.Td(g.Text(r.changes)), h.Td(g.Text(r.why)), h.Td(g.Text(r.took)))
				})),
			), logs),
	)).Render(&b)
	return b.Bytes(), err
}
