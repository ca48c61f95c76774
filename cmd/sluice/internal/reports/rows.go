package reports

import (
	"cmp"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/urn"
)

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

func dataOf(d *Document) pageData {
	out := pageData{Rows: make([]pageRow, 0, len(d.Resources)), Critical: []int{}}
	t := table{preview: d.Operation.Preview, began: d.Operation.Began, ended: d.Operation.Ended, at: make(map[urn.URN]int, len(d.Resources))}
	for i := range d.Resources {
		t.at[d.Resources[i].URN] = i
		for _, s := range d.Resources[i].Steps {
			if t.began.IsZero() || s.Began.Before(t.began) {
				t.began = s.Began
			}
		}
	}
	for i := range d.Resources {
		row := t.row(&d.Resources[i])
		for _, b := range row.Steps {
			out.Span = max(out.Span, b.To)
		}
		out.Rows = append(out.Rows, row)
	}
	for _, s := range d.CriticalPath {
		out.Critical = append(out.Critical, t.at[s.URN])
	}
	return out
}

// table makes the rows of resources.
type table struct {
	preview bool
	began   time.Time // of the operation, or of a step before it
	ended   time.Time
	at      map[urn.URN]int // the row of each resource
}

func (t *table) row(r *Resource) pageRow {
	row := pageRow{
		Name: display.CleanLine(r.Name), Type: display.ShortType(r.Type), Parent: -1, Class: classOf(r.Operation), Danger: r.danger(),
		Sign: strings.TrimSpace(display.Sign(r.Operation)), Fate: r.fate(t.preview), Unchanged: r.Status == Unchanged && !r.isOnlyRenamed(), Full: display.CleanLine(string(r.URN)),
		ID: display.CleanLine(r.ID), Position: display.CleanLine(r.Position),
	}
	if i, known := t.at[r.Parent]; known {
		row.Parent = i
	}
	if r.Status == Unchanged {
		row.Class, row.Sign = "same", ""
	}
	if trouble, is := troubles[r.Status]; is {
		row.Class = trouble.class
	}
	if r.Reason != nil {
		row.Why, row.Causes = cmp.Or(r.why(), display.CleanLine(r.Reason.Text)), t.rowsOf(r.Reason.Causes)
	}
	row.Needs = t.rowsOf(r.DependsOn)
	for _, c := range r.Changes {
		for _, l := range diffLines(c) {
			row.Lines = append(row.Lines, [2]string{l.sign, l.text})
		}
	}
	if r.More > 0 {
		row.Lines = append(row.Lines, [2]string{" ", format.PluralThousands(r.More, "more change", "more changes")})
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
			ended = t.ended
		}
		row.Steps = append(row.Steps, pageBar{
			display.Doing(s.Operation), milliseconds(s.Began.Sub(t.began)), milliseconds(ended.Sub(t.began)), s.Failed, s.Ended.IsZero(),
		})
	}
	return row
}

// rowsOf returns the rows of those resources that have one.
func (t *table) rowsOf(us []urn.URN) []int {
	var out []int
	for _, u := range us {
		if i, known := t.at[u]; known {
			out = append(out, i)
		}
	}
	return out
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}
