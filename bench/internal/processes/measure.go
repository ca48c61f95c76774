package processes

import (
	"context"
	"errors"
	"slices"

	"github.com/sluice-iac/sluice/bench/internal/runner"
	"github.com/sluice-iac/sluice/bench/shape"
)

// Measure measures all cases.
func (p *Processes) Measure(ctx context.Context, r *runner.Runner) error {
	for _, size := range r.Sizes {
		for _, s := range shape.Simple() {
			if !slices.Contains(r.Shapes, s) {
				continue
			}
			for _, f := range fronts() {
				if f.interpreter != "" && s != shape.Wide { // shapes matter to engines, and not to interpreters
					continue
				}
				l := load{shape: s, client: f.client, size: size}
				if err := p.preview(ctx, r, l); err != nil {
					return err
				}
				if err := p.updates(ctx, r, l); err != nil {
					return err
				}
			}
		}
		if err := p.configurations(ctx, r, size); err != nil {
			return err
		}
		if err := p.displays(ctx, r, size); err != nil {
			return err
		}
		if err := errors.Join(p.slow(ctx, r, size), p.updatesAtService(ctx, r, size)); err != nil {
			return err
		}
	}
	if err := p.slowHub(ctx, r); err != nil {
		return err
	}
	if err := errors.Join(p.startUp(ctx, r), p.nothing(ctx, r)); err != nil {
		return err
	}
	return p.reads(ctx, r)
}
