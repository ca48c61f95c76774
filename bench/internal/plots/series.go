package plots

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// keys are the cases of a name, without subjects, in the order of the report.
func keys(r *results.Report, name string) []results.Key {
	var all []results.Key
	for i := range r.Results {
		if k := r.Results[i].Of(""); k.Case == name && !slices.Contains(all, k) {
			all = append(all, k)
		}
	}
	return all
}

// oneSize is a picture of a case of one size; draw returns nil if there is nothing to draw.
type oneSize struct {
	name string
	draw func(r *results.Report, k results.Key) ([]byte, error)
}

func series() []oneSize { return []oneSize{{"memory", memory}, {"waits", waits}} }

// contenders calls add for the results of a case.
func contenders(r *results.Report, k results.Key, add func(i int, of *results.Result) error) error {
	n := 0
	for i := range r.Results {
		if of := &r.Results[i]; of.Of("") == k {
			if err := add(n, of); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// memory draws what the contenders had in memory over time, and what their collectors found alive.
func memory(r *results.Report, k results.Key) ([]byte, error) {
	const megabyte = 1 << 20
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = fmt.Sprintf("%s (%d): memory over time", k.Name(), k.Size), "seconds", "MB"
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	drawn := false
	err := contenders(r, k, func(i int, of *results.Result) error {
		var used, alive plotter.XYs
		for _, m := range of.Timeline {
			used = append(used, plotter.XY{X: m.At, Y: m.Memory / megabyte})
			if m.Live > 0 {
				alive = append(alive, plotter.XY{X: m.At, Y: m.Live / megabyte})
			}
		}
		if len(used) < 2 {
			return nil
		}
		drawn = true
		l, err := plotter.NewLine(used)
		if err != nil {
			return err
		}
		l.Color, l.Width = plotutil.Color(i), vg.Points(1.5)
		p.Add(l)
		p.Legend.Add(fmt.Sprintf("%s, %.0f collections", of.Subject, of.Timeline[len(of.Timeline)-1].Collections), l)
		if len(alive) < 2 {
			return nil
		}
		dashed, err := plotter.NewLine(alive)
		if err != nil {
			return err
		}
		dashed.Color, dashed.Dashes, dashed.StepStyle = plotutil.Color(i), []vg.Length{vg.Points(3), vg.Points(3)}, plotter.PostStep
		p.Add(dashed)
		return nil
	})
	if err != nil || !drawn {
		return nil, err
	}
	p.Y.Min = 0
	return drawing(p)
}

// waits draws which share of the resources had waited how long for their answers.
func waits(r *results.Report, k results.Key) ([]byte, error) {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = fmt.Sprintf("%s (%d): waits for answers", k.Name(), k.Size), "seconds", "share of the resources"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	drawn := false
	err := contenders(r, k, func(i int, of *results.Result) error {
		if of.Latencies.Count() < 2 {
			return nil
		}
		var line plotter.XYs
		const points = 200
		for n := range points + 1 {
			share := float64(n) / points
			line = append(line, plotter.XY{X: of.Latencies.Quantile(share).Seconds(), Y: share})
		}
		drawn = true
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.Color, l.Width, l.Dashes = plotutil.Color(i), vg.Points(1.5), plotutil.Dashes(i)
		p.Add(l)
		p.Legend.Add(of.Subject, l)
		return nil
	})
	if err != nil || !drawn {
		return nil, err
	}
	p.Y.Min, p.Y.Max = 0, 1
	return drawing(p)
}
