package standard

import (
	"context"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/closure"
)

// Ask is a call of a provider that the build stage needs for a decision.
type Ask struct {
	recheck *stages.Diffed
	probe   *closure.Probe
}

// Answer is the result of an [Ask].
type Answer struct {
	recheck          *stages.Diffed // with the result of the check
	probe            *closure.Probe
	accepted, inputs property.Map
	diff             providers.DiffResponse
	err              error
}

// questioner is the shared data of the build stage's workers.
type questioner struct {
	prober *closure.Prober
	differ *differ
}

// work carries out an Ask. It runs in many goroutines and reads no state of the builder.
func (qr *questioner) work(ctx context.Context, q Ask) (Answer, error) {
	if q.recheck != nil {
		a, err := qr.recheck(ctx, *q.recheck)
		if stages.GoesOn(err) {
			return Answer{recheck: q.recheck, err: err}, nil
		}
		return a, err
	}
	diff, err := qr.prober.CallProbe(ctx, q.probe)
	return Answer{probe: q.probe, diff: diff, err: err}, nil
}

// recheck checks the inputs of a registration again.
func (qr *questioner) recheck(ctx context.Context, d stages.Diffed) (Answer, error) {
	if d.Course == stages.LeftOut {
		return qr.include(ctx, d)
	}
	a, err := qr.differ.checkAnew(ctx, d.Analyzed)
	d.Violations = a.Violations
	return Answer{recheck: &d, accepted: a.Accepted, inputs: a.Inputs}, err
}

// include checks and analyzes a registration that was left out, as that of a new object.
func (qr *questioner) include(ctx context.Context, d stages.Diffed) (Answer, error) {
	l := d.Located
	l.Course, l.Old = stages.Managed, nil
	c, err := qr.differ.checker.check(ctx, l)
	if err != nil {
		return Answer{}, err
	}
	c.Accepted = c.Inputs
	a, err := qr.differ.analyst.analyze(ctx, stages.Analyzed{Checked: c})
	if err != nil {
		return Answer{}, err
	}
	a.Old = d.Old
	d.Analyzed = a
	return Answer{recheck: &d, accepted: a.Accepted, inputs: a.Inputs}, nil
}
