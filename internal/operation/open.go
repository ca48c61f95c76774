package operation

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-multierror"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// opened is an operation whose state is loaded. Nothing is running, and no event has been emitted.
type opened struct {
	settings Settings
	events   events
	began    time.Time

	// found is the state as loaded. base is that state brought up to date, before anything else is done. migrated is
	// true if they differ.
	found, base *state.Snapshot
	migrated    bool
	entropy     []byte
	packages    []stages.Package

	// operations is the context of running steps. It outlives the caller's context, so that they can finish when the
	// operation is stopped. abandon ends it.
	operations context.Context
	abandon    context.CancelFunc
	background background
}

// open is the first phase: it loads the state and returns an error for anything that can be refused before the operation has an effect.
func open(ctx context.Context, s Settings) (*opened, error) {
	m := newMasks(s.Secrets, &s.Stages)
	s.Log = m.log(s.Log)
	o := &opened{settings: s, events: events{masks: m, observe: s.Stages.Observe}, began: time.Now(), entropy: s.Stages.Entropy}
	if err := o.checkPlan(); err != nil {
		return nil, err
	}
	if err := o.load(ctx); err != nil {
		return nil, err
	}
	if err := o.refuseHooks(); err != nil {
		return nil, err
	}
	if err := o.findPackagesUntilStopped(ctx); err != nil {
		return nil, err
	}
	o.operations, o.abandon = context.WithCancel(context.WithoutCancel(ctx))
	return o, nil
}

func (o *opened) load(ctx context.Context) error {
	found, err := o.settings.State.Load(ctx)
	if err != nil {
		return err
	}
	if found == nil {
		found = &state.Snapshot{}
	}
	o.events.masks.learnSnapshot(found)
	if err := state.Verify(found); err != nil {
		return err
	}
	if o.entropy == nil {
		o.entropy = make([]byte, 32)
		if _, err := rand.Read(o.entropy); err != nil {
			return err
		}
	}
	ids := 0
	o.found = found
	o.base, o.migrated = state.Migrate(found, o.settings.Stages.PackageConfig, func() string {
		ids++
		return stages.DerivedID(o.entropy, "migrated", fmt.Sprint(ids))
	})
	o.settings.Stages.Targeting, err = o.settings.Stages.Targeting.Bind(state.URNs(o.base.Resources))
	return err
}

// checkPlan refuses a plan that contains nothing about the stack.
func (o *opened) checkPlan() error {
	p, info := o.settings.Stages.Plan, o.settings.Stages.Info
	if p == nil || len(p.Resources) == 0 {
		return nil
	}
	for u := range p.Resources {
		if u.Stack() == info.Stack && u.Project() == info.Project {
			return nil
		}
	}
	other := slices.Min(slices.Collect(maps.Keys(p.Resources)))
	return fmt.Errorf("the plan is for stack %s of project %s, and not for stack %s of project %s; make one for this stack",
		other.Stack(), other.Project(), info.Stack, info.Project)
}

// refuseHooks refuses a destroy that would have to run delete hooks, which are in the program (steps.md 7.5).
func (o *opened) refuseHooks() error {
	if o.settings.Stages.Mode != stages.ModeDestroy || o.settings.RunsProgram() {
		return nil
	}
	var all *multierror.Error
	for _, r := range o.base.Resources {
		if names := slices.Concat(r.ResourceHooks["BeforeDelete"], r.ResourceHooks["AfterDelete"]); len(names) > 0 {
			all = multierror.Append(all, fmt.Errorf("%s: Resource has delete hooks registered, but the program is not running. Hooks: %s",
				r.URN, strings.Join(names, ", ")))
		}
	}
	if all.ErrorOrNil() == nil {
		return nil
	}
	return advice.With(all, advice.On(advice.RunProgram))
}
