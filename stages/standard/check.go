package standard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/internal/access"
	"github.com/sluice-iac/sluice/stages/internal/compare"
	"github.com/sluice-iac/sluice/stages/internal/control"
	"github.com/sluice-iac/sluice/stages/internal/plan"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
)

// checker calls Check of providers.
type checker struct {
	control   *control.Control
	rooms     *rooms.Rooms
	access    *access.Access
	plans     *plan.Plans
	autonamer stages.Autonamer // nil: providers choose names
	judged    bool             // something judges the checked inputs before build decides
}

// stage returns the stage in which providers validate inputs (steps.md 3.5). It calls Check for custom resources, and the
// registry's check for provider resources; components and reads pass through. If a provider refuses inputs, the run
// stops.
func (ck *checker) stage() pipeline.Stage[stages.Located, stages.Checked] {
	return pipeline.Stage[stages.Located, stages.Checked]{
		Name:    "check",
		Workers: ck.access.ReadWorkers(),
		Buffer:  ck.access.ReadWorkers(),
		Run: func(ctx context.Context, l stages.Located, emit pipeline.Emit[stages.Checked]) error {
			c, err := ck.check(ctx, l)
			if err == nil && l.Invalid != nil {
				err = ck.control.FailRegistration(l, stages.CodeShown, fmt.Errorf("resource %s is invalid: %w", l.URN, l.Invalid))
			}
			if err != nil {
				c = stages.Checked{Located: l}
				if err := ck.control.PassOn(&c.Located, err); err != nil {
					return err
				}
				return emit(c)
			}
			c.Accepted = c.Inputs
			if c.Unknown != nil {
				return emit(c)
			}
			if err := ck.plans.HoldToPlan(&c); err != nil {
				return err
			}
			return emit(c)
		},
	}
}

func (ck *checker) check(ctx context.Context, l stages.Located) (stages.Checked, error) {
	c := stages.Checked{Located: l}
	switch {
	case l.Course.HasFailed():
		return c, nil
	case l.Read != nil:
		return c, ck.access.CheckReader(l)
	case l.Goal == nil:
		return c, nil
	}
	if l.Course != stages.Managed {
		if l.Old != nil {
			c.Inputs = l.Old.Inputs
		}
		return c, nil
	}
	l = ck.withKnownInputs(l)
	c.Located = l
	if c.Unknown = ck.unknownInput(l); c.Unknown != nil || !l.Goal.Custom {
		c.Inputs = l.Goal.Inputs
		return c, nil
	}
	c.Seed = ck.plans.SeedFor(l.URN)
	if ck.autonamer != nil {
		options, random := ck.autonamer.Autoname(l.URN, c.Seed)
		c.DeleteFirst = options != nil && !random
		if !l.Goal.Type.IsProvider() { // CheckConfig gets no names
			c.Autonaming = options
		}
	}
	if err := ck.access.EnsureProvider(ctx, l); err != nil {
		return c, err
	}
	if err := ck.access.ExtendFor(ctx, l); err != nil {
		return c, err
	}
	inputs, err := ck.checkAgainst(ctx, &c)
	c.Inputs = inputs
	return c, err
}

// withKnownInputs returns a registration with the recorded values of its unknown inputs, for operations that do not make what the
// program declares: a provider keeps its configuration.
func (ck *checker) withKnownInputs(l stages.Located) stages.Located {
	if ck.control.DryRun() || ck.rooms.Mode == stages.ModeUpdate {
		return l
	}
	if _, _, found := l.Goal.Inputs.FindUnknown(); !found {
		return l
	}
	var last property.Map
	if l.Old != nil {
		last = l.Old.Inputs
	}
	known := *l.Goal
	known.Inputs, _, _ = l.Goal.Inputs.KnownOr(last)
	l.Goal = &known
	return l
}

// unknownInput returns why the program's inputs are not known well enough, nil if they are. Inputs whose changes are ignored do not
// count.
func (ck *checker) unknownInput(l stages.Located) *stages.UnknownInputError {
	e := rooms.UnknownInput(ck.rooms, l, l.Goal.Inputs, ck.control.DryRun())
	if e == nil || !l.Goal.Custom {
		return e
	}
	_, news, _, _ := ck.checkInputs(l)
	return rooms.UnknownInput(ck.rooms, l, news, ck.control.DryRun())
}

// checkAgainst calls Check for a resource with a recorded state. What is said about the inputs, by the provider, the engine or an analyzer, counts
// only once it is certain that the state counts.
func (ck *checker) checkAgainst(ctx context.Context, c *stages.Checked) (property.Map, error) {
	var olds, news property.Map
	var kept []string
	olds, news, kept, c.Raw = ck.checkInputs(c.Located)
	p, err := ck.access.ProviderOf(c.Located)
	if err != nil {
		return property.Map{}, err
	}
	req := ck.checkRequest(*c, olds, news)
	if !c.Raw {
		req.OldOutputs = c.Old.Outputs
	}
	res, err := p.Check(ctx, req)
	if !c.Raw && (err != nil || len(res.Failures) > 0 || len(kept) > 0 || res.AutonamingUnsupported || ck.judged) {
		forgotten, err := ck.rooms.IsDeletedOnceDecided(ctx, c.Located)
		if err != nil {
			return property.Map{}, err
		}
		if forgotten {
			return ck.checkAgainst(ctx, c)
		}
	}
	ck.noteKept(c.Located, kept)
	return ck.accepted(*c, news, res, err)
}

// checkInputs returns the inputs for Check (steps.md 3.5), and the paths whose changes cannot be ignored.
func (ck *checker) checkInputs(l stages.Located) (olds, news property.Map, kept []string, raw bool) {
	if l.Old == nil || l.Old.External || l.Old.Taint || ck.rooms.Targeting.Replace.Matches(l.URN) || ck.rooms.IsDeletedBefore(l) {
		return property.Map{}, l.Goal.Inputs, nil, true
	}
	news, kept = compare.IgnoreChanges(l.Goal.IgnoreChanges, l.Old.Inputs, l.Goal.Inputs)
	return l.Old.Inputs, news, kept, false
}

// noteKept reports the paths whose changes cannot be ignored.
func (ck *checker) noteKept(l stages.Located, kept []string) {
	if len(kept) > 0 {
		ck.control.Diagnose(l.URN, stages.Info, 0, fmt.Sprintf("cannot ignore changes in added or removed elements of the path: %q", strings.Join(kept, ", ")))
	}
}

// callCheck calls Check for an object that is to be made, and reports the inputs that it refuses.
func (ck *checker) callCheck(ctx context.Context, c stages.Checked, news property.Map) (property.Map, error) {
	p, err := ck.access.ProviderOf(c.Located)
	if err != nil {
		return property.Map{}, err
	}
	res, err := p.Check(ctx, ck.checkRequest(c, property.Map{}, news))
	return ck.accepted(c, news, res, err)
}

func (ck *checker) checkRequest(c stages.Checked, olds, news property.Map) providers.CheckRequest {
	return providers.CheckRequest{
		URN: c.URN, Name: c.URN.Name(), Type: c.Goal.Type, Olds: olds, News: news, AllowUnknowns: ck.control.DryRun(),
		RandomSeed: c.Seed, Autonaming: c.Autonaming,
	}
}

// accepted returns the inputs that a provider has accepted, or reports those that it refuses.
func (ck *checker) accepted(c stages.Checked, news property.Map, res providers.CheckResponse, err error) (property.Map, error) {
	if err != nil {
		return property.Map{}, ck.control.FailRegistration(c.Located, stages.CodeFailed, err)
	}
	if res.AutonamingUnsupported && c.Autonaming != nil && c.Autonaming.WarnIfUnsupported {
		ck.control.Warn(c.URN, "%s resource has a custom autonaming setting but the provider does not support autonaming configuration, "+
			"consider upgrading to a newer version", c.Goal.Type)
	}
	if len(res.Failures) == 0 {
		return res.Inputs, nil
	}
	var all []string
	for _, f := range res.Failures {
		code, text := compare.CheckFailure(c.URN, news, f)
		ck.control.DiagnoseRegistration(c.Located, code, text)
		all = append(all, text)
	}
	return property.Map{}, ck.control.FailRegistration(c.Located, stages.CodeShown, errors.New(strings.Join(all, "; ")))
}
