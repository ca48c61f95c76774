package slot_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-iac/sluice/internal/slot"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/stagestest"
)

// BenchmarkPassingAStage has the cost of one stage that passes items on, with and without the rules of its slot.
func BenchmarkPassingAStage(b *testing.B) {
	items := make([]stages.Diffed, 1000)
	for i := range items {
		items[i] = stagestest.Resource{Name: fmt.Sprint("r", i), Seq: i + 1, Recorded: true}.Diffed()
	}
	pass := pipeline.Stage[stages.Diffed, stages.Diffed]{
		Name: "pass", Buffer: 64,
		Run: func(_ context.Context, d stages.Diffed, emit pipeline.Emit[stages.Diffed]) error { return emit(d) },
	}
	for _, name := range []string{"alone", "guarded"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			all := pipeline.From("items", 64, func(_ context.Context, emit pipeline.Emit[stages.Diffed]) error {
				for n := range b.N {
					if err := emit(items[n%len(items)]); err != nil {
						return err
					}
				}
				return nil
			})
			st := pass
			if name == "guarded" { // one for each run
				st = slot.Guard("Diffed", pass, slot.Reports{Refuse: func(err error, _ bool) error { return err }})
			}
			if err := pipeline.Run(b.Context(), pipeline.Via(all, st), nil); err != nil {
				b.Fatal(err)
			}
		})
	}
}
