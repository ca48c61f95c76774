package processes

import (
	"context"

	"github.com/sluice-iac/sluice/bench/internal/meter"
)

// probe is one measured run.
type probe func(ctx context.Context, run meter.Run) (meter.Reading, error)

// run runs it unmeasured.
func (p probe) run(ctx context.Context) error {
	_, err := p(ctx, meter.Run{})
	return err
}

// then returns a probe that measures p and then runs the others unmeasured.
func (p probe) then(others ...probe) probe {
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		r, err := p(ctx, run)
		for _, other := range others {
			if err == nil {
				err = other.run(ctx)
			}
		}
		return r, err
	}
}

// after returns a probe that runs the others unmeasured and then measures p.
func (p probe) after(others ...probe) probe {
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		for _, other := range others {
			if err := other.run(ctx); err != nil {
				return meter.Reading{}, err
			}
		}
		return p(ctx, run)
	}
}

// once returns a probe that runs the others before its first run.
func (p probe) once(others ...probe) probe {
	done := false
	return func(ctx context.Context, run meter.Run) (meter.Reading, error) {
		if done {
			return p(ctx, run)
		}
		done = true
		return p.after(others...)(ctx, run)
	}
}
