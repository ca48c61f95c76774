package composing

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Price returns the monthly cost of a resource with these inputs.
type Price func(t urn.Type, inputs property.Map) float64

// Costs is the change of the monthly costs by one operation.
type Costs struct {
	price Price

	mu   sync.Mutex // guards the rest
	each map[urn.URN]float64
}

// Estimate adds an estimate to an engine, which can then run one operation, such as a preview. It counts resources that are created,
// changed or replaced after diff, before any step, and deleted ones before the deletes begin.
func Estimate(e *sluice.Engine, price Price) *Costs {
	c := &Costs{price: price, each: map[urn.URN]float64{}}
	e.Diffed.Insert(func(stages.Operation) pipeline.Stage[stages.Diffed, stages.Diffed] {
		return pipeline.Stage[stages.Diffed, stages.Diffed]{
			Name: "cost",
			Run: func(_ context.Context, d stages.Diffed, emit pipeline.Emit[stages.Diffed]) error {
				if d.IsManaged() {
					c.add(d.URN, price(d.Goal.Type, d.Inputs))
					if d.Old != nil {
						c.add(d.URN, -price(d.Old.Type, d.Old.Inputs)) // it is changed or replaced
					}
				}
				return emit(d)
			},
		}
	})
	e.Deleting.Insert(func(stages.Operation) pipeline.Stage[stages.Deleting, stages.Deleting] {
		return pipeline.Stage[stages.Deleting, stages.Deleting]{
			Name: "savings",
			Run: func(_ context.Context, d stages.Deleting, emit pipeline.Emit[stages.Deleting]) error {
				if d.Op == stages.OpDelete && d.IsManaged() { // those of replacements are counted above
					c.add(d.URN, -price(d.Old.Type, d.Old.Inputs))
				}
				return emit(d)
			},
		}
	})
	return c
}

func (c *Costs) add(u urn.URN, amount float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.each[u] += amount
}

// Total returns the sum over all resources.
func (c *Costs) Total() (sum float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, u := range slices.Sorted(maps.Keys(c.each)) { // in a fixed order, because sums of floats depend on it
		sum += c.each[u]
	}
	return sum
}
