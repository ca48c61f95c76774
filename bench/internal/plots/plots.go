package plots

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// drawn are the metrics that have pictures.
func drawn() []results.Metric {
	return []results.Metric{results.Time, results.Work, results.Peak, results.Allocs, results.P99}
}

// Write draws a report into a directory: an SVG for each case and metric that was measured for several sizes; for each case and size what the
// contenders had in memory over time, and how long resources waited for their answers; and index.html with all of them. It returns their number.
func Write(directory string, r *results.Report) (int, error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return 0, err
	}
	var page []g.Node
	count := 0
	for _, name := range cases(r) {
		var pictures []g.Node
		for _, m := range drawn() {
			svg, err := picture(r, name, m)
			if err != nil {
				return 0, fmt.Errorf("drawing %s of %s: %w", m, name, err)
			}
			if svg == nil {
				continue
			}
			file := fileName(name, m)
			if err := os.WriteFile(filepath.Join(directory, file), svg, 0o644); err != nil {
				return 0, err
			}
			pictures = append(pictures, h.Img(h.Src(file), h.Alt(name+", "+string(m)), h.Width("560")))
		}
		for _, k := range keys(r, name) {
			for _, one := range series() {
				svg, err := one.draw(r, k)
				if err != nil {
					return 0, fmt.Errorf("drawing %s of %s: %w", one.name, k.Name(), err)
				}
				if svg == nil {
					continue
				}
				file := fileName(fmt.Sprintf("%s-%d", k.Name(), k.Size), results.Metric(one.name))
				if err := os.WriteFile(filepath.Join(directory, file), svg, 0o644); err != nil {
					return 0, err
				}
				pictures = append(pictures, h.Img(h.Src(file), h.Alt(fmt.Sprintf("%s (%d), %s", k.Name(), k.Size, one.name)), h.Width("560")))
			}
		}
		count += len(pictures)
		if len(pictures) > 0 {
			page = append(page, h.H2(g.Text(name)), h.Div(pictures...))
		}
	}
	f, err := os.Create(filepath.Join(directory, "index.html"))
	if err != nil {
		return 0, err
	}
	if err := index(r, page).Render(f); err != nil {
		_ = f.Close()
		return 0, err
	}
	return count, f.Close()
}

func index(r *results.Report, content []g.Node) g.Node {
	title := "Benchmarks of " + r.Commit
	return h.Doctype(h.HTML(h.Lang("en"),
		h.Head(h.Meta(h.Charset("utf-8")), h.TitleEl(g.Text(title))),
		h.Body(
			h.H1(g.Text(title)),
			h.P(g.Text(fmt.Sprintf("%s × %d, %s, %s. Pictures of sizes: both axes are logarithmic; points are medians, bars the least and the most. "+
				"Pictures of memory are of the run that is in no figure; dashes are what the collector found alive when it ended last. Pictures of waits: the share of the resources whose answer took no longer.",
				r.Machine.Processor, r.Machine.Processors, r.Machine.System, r.Machine.Go))),
			g.Group(content),
		),
	))
}

func fileName(name string, m results.Metric) string {
	clean := func(s string) string {
		return strings.Trim(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, strings.ToLower(s)), "-")
	}
	return clean(name) + "_" + clean(string(m)) + ".svg"
}

// cases are the names of the cases, without shapes.
func cases(r *results.Report) []string {
	var names []string
	for i := range r.Results {
		if n := r.Results[i].Case; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

// line is the growth of a metric of one subject.
type line struct {
	name            string
	plotter.XYs     // medians
	plotter.YErrors // distances of the least and the most from them
}

// picture returns a picture of a metric of a case, nil if no line has two points.
func picture(r *results.Report, name string, m results.Metric) ([]byte, error) {
	var lines []*line
	for i := range r.Results {
		of := &r.Results[i]
		v := of.Runs[m].Median()
		if of.Case != name || of.Size == 0 || v <= 0 {
			continue
		}
		label := strings.Join(strings.Fields(of.Shape+" "+of.Latency+" "+of.Subject), " ")
		at := slices.IndexFunc(lines, func(l *line) bool { return l.name == label })
		if at < 0 {
			at, lines = len(lines), append(lines, &line{name: label})
		}
		l := lines[at]
		least, most := of.Runs[m].Range()
		l.XYs = append(l.XYs, plotter.XY{X: float64(of.Size), Y: v})
		// A logarithmic axis has no place for 0.
		l.YErrors = append(l.YErrors, struct{ Low, High float64 }{v - max(least, v/100), most - v})
	}
	lines = slices.DeleteFunc(lines, func(l *line) bool { return len(l.XYs) < 2 })
	if len(lines) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = name, "resources", string(m)
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for i, l := range lines {
		drawnLine, points, err := plotter.NewLinePoints(l.XYs)
		if err != nil {
			return nil, err
		}
		bars, err := plotter.NewYErrorBars(l)
		if err != nil {
			return nil, err
		}
		drawnLine.Color, points.Color, bars.Color = plotutil.Color(i), plotutil.Color(i), plotutil.Color(i)
		points.Shape, drawnLine.Dashes = plotutil.Shape(i), plotutil.Dashes(i) // colours alone do not distinguish enough
		p.Add(drawnLine, points, bars)
		p.Legend.Add(l.name, drawnLine, points)
	}
	return drawing(p)
}

// drawing returns a picture as an SVG.
func drawing(p *plot.Plot) ([]byte, error) {
	canvas := vgsvg.New(7*vg.Inch, 5*vg.Inch)
	p.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
