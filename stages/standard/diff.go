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
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/urn"
)

// differ compares registrations with recorded states.
type differ struct {
	control    *control.Control
	rooms      *rooms.Rooms
	access     *access.Access
	checker    *checker
	analyst    *analyst
	legacyDiff bool
}

// stage returns the stage that compares a registration with its recorded state (steps.md 3.8). If the result is a replacement, it
// checks the inputs again for the new object (3.9). Reads and new resources pass through.
func (df *differ) stage() pipeline.Stage[stages.Analyzed, stages.Diffed] {
	return pipeline.Stage[stages.Analyzed, stages.Diffed]{
		Name:    "diff",
		Workers: df.access.ReadWorkers(),
		Buffer:  df.access.ReadWorkers(),
		Run: func(ctx context.Context, a stages.Analyzed, emit pipeline.Emit[stages.Diffed]) error {
			var d stages.Diffed
			err := decideImported(df.control, a, func() (err error) {
				d, err = df.diff(ctx, a)
				return err
			})
			if err != nil {
				d = stages.Diffed{Analyzed: a}
				if err := df.control.PassOn(&d.Located, err); err != nil {
					return err
				}
			}
			return emit(d)
		},
	}
}

func (df *differ) diff(ctx context.Context, a stages.Analyzed) (stages.Diffed, error) {
	d := stages.Diffed{Analyzed: a}
	switch {
	case a.Goal == nil || a.Course.HasFailed() || a.Course.IsBypassed() || a.Violation != nil:
		return d, nil
	case a.Old != nil && a.Old.External:
		d.Reason = stages.Reason{Kind: stages.ReasonTakenOver} // whether or not it is included (steps.md 3.6)
		return d, nil
	case a.Course == stages.LeftOut:
		return d, nil
	case a.Old == nil:
		d.Reason = stages.Reason{Kind: stages.ReasonNew}
		if df.rooms.HasVanished(a.URN) || a.Claimed != nil {
			d.Reason.Kind = stages.ReasonVanished
		}
		return d, nil
	case a.Unknown != nil:
		d.Reason = stages.Reason{Kind: stages.ReasonInputs, Properties: []string{a.Unknown.Property.String()}, By: stages.ByEngine}
		return d, nil
	case df.rooms.IsDeletedBefore(a.Located):
		return d, nil // it was deleted before its dependency's replacement; build recreates it
	}
	d.Compared = true
	say, err := df.compare(ctx, &d)
	var paths []string
	if err == nil {
		if paths, err = compare.ReplaceOnChanges(&d.Diff, d.Goal.ReplaceOnChanges, len(d.Old.InitErrors) > 0); err != nil {
			err = fmt.Errorf("replaceOnChanges of %s: %w", d.URN, err)
		}
	}
	if stages.IsReported(err) {
		return d, err
	}
	if err != nil || say != nil {
		// The comparison, and what is said about it, only count if the state does.
		if forgotten, waitErr := df.rooms.IsDeletedOnceDecided(ctx, a.Located); waitErr != nil || forgotten {
			return stages.Diffed{Analyzed: a}, waitErr
		}
	}
	if say != nil {
		say()
	}
	if err != nil {
		return d, df.control.FailRegistration(d.Located, stages.CodeFailed, err)
	}
	d.MustReplace = d.Diff.Replaces()
	d.Reason = explain(&d, paths)
	completeReason(&d)
	if !d.Replaces() {
		return d, nil
	}
	return d, df.recheck(ctx, &d)
}

// compare compares a registration with its recorded state. The first rule of steps.md 3.8 that applies decides. say shows a message about the
// comparison; it is nil if there is none.
func (df *differ) compare(ctx context.Context, d *stages.Diffed) (say func(), err error) {
	fired, err := df.triggerFired(d.Located)
	if err != nil {
		return nil, err
	}
	if fired {
		d.Triggered = true
		d.Diff = providers.DiffResponse{Changes: providers.DiffSome}
		d.Reason = stages.Reason{Kind: stages.ReasonTrigger}
		return nil, nil
	}
	if why, key := df.ordered(d.Located); why.Kind != stages.ReasonNone {
		d.Reason, d.Diff = why, replaceBecauseOf(key)
		return nil, nil
	}
	changed, err := df.providerChanged(ctx, d.Located)
	if err != nil {
		return nil, err
	}
	if changed {
		d.Diff = replaceBecauseOf("provider")
		d.Reason = newProviderReason(d.Old.Provider, d.Goal.Provider)
		return nil, nil
	}
	if df.legacyDiff && property.EqualMaps(d.Old.Inputs, d.Inputs) {
		d.By, d.Diff.Changes = stages.ByEngine, providers.DiffNone
		return nil, nil
	}
	if !d.Goal.Custom {
		d.By = stages.ByEngine
		d.Diff.Changes = providers.DiffNone
		news := d.Inputs
		if len(d.Goal.IgnoreChanges) > 0 && !d.Remediated {
			var kept []string
			news, kept = compare.IgnoreChanges(d.Goal.IgnoreChanges, d.Old.Inputs, d.Goal.Inputs) // the recorded inputs are still those of the program
			if len(kept) > 0 {
				l := d.Located // d itself would live on for every registration
				say = func() { df.checker.noteKept(l, kept) }
			}
		}
		if !property.IdenticalMaps(d.Old.Inputs, news) {
			d.Diff.Changes = providers.DiffSome
			if !d.Old.PendingReplacement {
				d.Reason = compare.InputsReason(property.Diff(d.Old.Inputs, news, nil).ChangedKeys())
			}
		}
		return say, nil
	}
	p, err := df.access.ProviderOf(d.Located)
	if err != nil {
		return nil, err
	}
	d.Diff, d.By, say, err = df.access.AskDiff(ctx, p, d.URN, d.Old, d.Inputs, df.control.DryRun(), d.Goal.IgnoreChanges)
	return say, err
}

func replaceBecauseOf(key string) providers.DiffResponse {
	return providers.DiffResponse{Changes: providers.DiffSome, ReplaceKeys: []string{key}}
}

// triggerFired compares replacement triggers (steps.md 3.8, the guards).
func (df *differ) triggerFired(l stages.Located) (bool, error) {
	now, before := l.Goal.ReplacementTrigger, l.Old.ReplacementTrigger
	if !df.control.DryRun() && now.HasUnknowns() {
		return false, fmt.Errorf("replacement trigger contains unknowns for %s", l.URN)
	}
	switch {
	case now.HasUnknowns() || before.HasUnknowns():
		return true, nil
	case now.IsNull() || before.IsNull():
		return false, nil
	}
	return !property.Equal(now.StripSecretsAndOutputs(), before.StripSecretsAndOutputs()), nil
}

// ordered reports whether a replacement is required by something other than a difference. It also returns the key for events.
func (df *differ) ordered(l stages.Located) (why stages.Reason, key string) {
	if df.rooms.Targeting.Replace.Matches(l.URN) {
		return stages.Reason{Kind: stages.ReasonRequested}, "id"
	}
	if l.Old.Taint {
		return stages.Reason{Kind: stages.ReasonTainted}, "id"
	}
	for _, u := range l.Goal.ReplaceWith {
		if df.rooms.Decisions.Has(u, rooms.Replaced) {
			return stages.Reason{Kind: stages.ReasonReplaceWith, Cause: u}, "replaceWith"
		}
	}
	if u := l.Goal.DeletedWith; u != "" && df.rooms.Decisions.Has(u, rooms.Replaced) {
		return stages.Reason{Kind: stages.ReasonDeletedWith, Cause: u}, "deletedWith"
	}
	return stages.Reason{}, ""
}

// providerChanged reports whether a resource must be replaced because another provider manages it now (steps.md 3.8).
func (df *differ) providerChanged(ctx context.Context, l stages.Located) (bool, error) {
	if l.Old.Provider == l.Goal.Provider {
		return false, nil
	}
	if l.Old.Provider == "" || l.Goal.Provider == "" {
		return true, nil
	}
	before, err := urn.ParseProviderRef(l.Old.Provider)
	if err != nil {
		return false, df.control.FailRegistration(l, stages.CodeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v' in the recorded state: %v", l.Old.Provider, l.URN, err))
	}
	now, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return false, df.control.FailRegistration(l, stages.CodeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v': %v", l.Goal.Provider, l.URN, err))
	}
	// After an interrupted replacement of the provider, the provider that made the resource may be recorded beside the
	// new one (decision 0021).
	made := df.rooms.Base.Providers[before.String()]
	if made == nil {
		made = df.rooms.Base.Olds[before.URN]
	}
	if before.URN != now.URN && df.rooms.Names.NewNameOf(before.URN) == now.URN && (made == nil || !made.Delete) {
		return false, nil
	}
	p, err := df.access.ProviderOf(l)
	if err != nil {
		return false, err
	}
	req := providers.DiffRequest{URN: now.URN, Name: now.URN.Name(), Type: now.URN.Type(), ID: now.ID, AllowUnknowns: true}
	if made != nil {
		req.OldInputs, req.OldOutputs = providers.Configuration(made.Inputs), made.Outputs
	}
	if s, ok := df.rooms.Results.Lookup(now.URN); ok {
		req.NewInputs = providers.Configuration(s.Inputs)
	} else if s := df.rooms.Base.Providers[l.Goal.Provider]; s != nil {
		req.NewInputs = providers.Configuration(s.Inputs)
	}
	res, err := p.DiffConfig(ctx, req)
	if errors.Is(err, providers.ErrUnsupported) {
		return false, nil
	}
	return res.Replaces(), err
}

// recheck checks the inputs for the new object of a replacement, without old ones (steps.md 3.9). A replacement that will
// be refused is not checked again.
func (df *differ) recheck(ctx context.Context, d *stages.Diffed) error {
	if !d.Goal.Custom || d.Raw || d.Reason.Kind == stages.ReasonTainted || d.Reason.Kind == stages.ReasonRequested {
		return nil
	}
	if !df.control.DryRun() && (rooms.IsProtected(df.rooms, d.Located, d.IsPending()) || d.Goal.ImportID != "") {
		return nil
	}
	anew, err := df.checkAnew(ctx, d.Analyzed)
	if err != nil {
		return err
	}
	d.Rechecked, d.Violations = &anew.Inputs, anew.Violations
	return nil
}

// checkAnew checks the program's inputs as those of a new object, and returns the registration with the accepted ones. The analyzers rewrite and
// judge them as they did the first time: their rules apply to replacements, too, whose inputs may differ in ignored changes.
func (df *differ) checkAnew(ctx context.Context, a stages.Analyzed) (stages.Analyzed, error) {
	judged := a.Inputs
	accepted, err := df.checker.callCheck(ctx, a.Checked, a.Goal.Inputs)
	if err != nil {
		return a, err
	}
	reportedBefore := func(stages.Event) {}
	a.Inputs, a.Accepted = accepted, accepted
	if a.Inputs, err = df.analyst.remediate(ctx, a, reportedBefore); err != nil || property.EqualMaps(a.Inputs, judged) {
		return a, err
	}
	return df.analyst.judge(ctx, a, reportedBefore)
}

// importRefusal returns why a resource that still has an import ID may not be replaced (steps.md A.2).
func importRefusal(d stages.Diffed) string {
	lines := []string{"previously-imported resources that still specify an ID may not be replaced; " +
		"please remove the `import` declaration from your program;"}
	for _, k := range d.Diff.ReplaceKeys {
		lines = append(lines, compare.ShownChange(k, d.Old.Inputs.At(k), d.Inputs.At(k)))
	}
	return strings.Join(lines, "\n")
}
