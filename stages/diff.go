package stages

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Diff is the stage that compares a registration with its recorded state (steps.md 3.8) and, where that asks for a
// replacement, has the inputs checked again for the new object (3.9). Reads and new resources pass through.
func Diff(run *Run) pipeline.Stage[Analyzed, Diffed] {
	r := run.differ()
	return pipeline.Stage[Analyzed, Diffed]{
		Name:    "diff",
		Workers: readWorkers,
		Buffer:  readWorkers,
		Run: func(ctx context.Context, a Analyzed, emit pipeline.Emit[Diffed]) error {
			d, err := r.diff(ctx, a)
			if err != nil {
				return err
			}
			return emit(d)
		},
	}
}

func (r *differ) diff(ctx context.Context, a Analyzed) (Diffed, error) {
	d := Diffed{Analyzed: a}
	switch {
	case a.Goal == nil || a.answered || a.passive || a.violation != nil:
		return d, nil
	case a.Old != nil && a.Old.External:
		d.Reason = Reason{Kind: ReasonTakenOver} // whether or not it is part of the operation (steps.md 3.6)
		return d, nil
	case !a.Included:
		return d, nil
	case a.Old == nil:
		d.Reason = Reason{Kind: ReasonNew}
		if r.vanished[a.URN] || a.claimed != nil {
			d.Reason.Kind = ReasonVanished
		}
		return d, nil
	case r.isForgotten(a.Located):
		return d, nil // it was deleted before its dependency's replacement; build makes it again
	}
	d.Compared = true
	if err := r.compare(ctx, &d); err != nil {
		if IsReported(err) {
			return d, err
		}
		// The comparison only counts if the state does.
		if forgotten, waitErr := r.isForgottenAfterAll(ctx, a.Located); waitErr != nil || forgotten {
			return Diffed{Analyzed: a}, waitErr
		}
		return d, r.bail(d.Located, codeFailed, err)
	}
	paths, err := replaceOnChanges(&d.Diff, d.Goal.ReplaceOnChanges, len(d.Old.InitErrors) > 0)
	if err != nil {
		return d, r.bail(d.Located, codeFailed, fmt.Errorf("replaceOnChanges of %s: %w", d.URN, err))
	}
	d.MustReplace = d.Diff.Replaces()
	d.Reason = explain(&d, paths)
	completeReason(&d)
	if !d.Replaces() {
		return d, nil
	}
	return d, r.recheck(ctx, &d)
}

// compare finds out what changed. The first rule of steps.md 3.8 that applies decides. Its errors that are no bails are a
// provider's.
func (r *differ) compare(ctx context.Context, d *Diffed) error {
	fired, err := r.triggerFired(d.Located)
	if err != nil {
		return err
	}
	if fired {
		d.Triggered = true
		d.Diff = providers.DiffResponse{Changes: providers.DiffSome}
		d.Reason = Reason{Kind: ReasonTrigger}
		return nil
	}
	if why, key := r.ordered(d.Located); why.Kind != ReasonNone {
		d.Reason, d.Diff = why, replaceBecauseOf(key)
		return nil
	}
	changed, err := r.providerChanged(ctx, d.Located)
	if err != nil {
		return err
	}
	if changed {
		d.Diff = replaceBecauseOf("provider")
		d.Reason = newProviderReason(d.Old.Provider, d.Goal.Provider)
		return nil
	}
	if r.LegacyDiff && property.EqualMaps(d.Old.Inputs, d.Inputs) {
		d.by, d.Diff.Changes = ByEngine, providers.DiffNone
		return nil
	}
	if !d.Goal.Custom {
		d.by = ByEngine
		d.Diff.Changes = providers.DiffNone
		news := d.Inputs
		if len(d.Goal.IgnoreChanges) > 0 && !d.remediated {
			news = r.checker.withoutIgnored(d.Located) // what is recorded are the program's all the same
		}
		if !property.IdenticalMaps(d.Old.Inputs, news) {
			d.Diff.Changes = providers.DiffSome
			if !d.Old.PendingReplacement {
				d.Reason = inputsReason(property.Diff(d.Old.Inputs, news, nil).ChangedKeys())
			}
		}
		return nil
	}
	p, err := r.providerOf(d.Located)
	if err != nil {
		return err
	}
	d.Diff, d.by, err = r.askDiff(ctx, p, d.URN, d.Old, d.Inputs, r.DryRun(), d.Goal.IgnoreChanges)
	return err
}

func replaceBecauseOf(key string) providers.DiffResponse {
	return providers.DiffResponse{Changes: providers.DiffSome, ReplaceKeys: []string{key}}
}

// triggerFired compares replacement triggers (steps.md 3.8, the guards).
func (r *differ) triggerFired(l Located) (bool, error) {
	now, before := l.Goal.ReplacementTrigger, l.Old.ReplacementTrigger
	if !r.DryRun() && now.HasUnknowns() {
		return false, r.bail(l, codeFailed, fmt.Errorf("replacement trigger contains unknowns for %s", l.URN))
	}
	switch {
	case now.HasUnknowns() || before.HasUnknowns():
		return true, nil
	case now.IsNull() || before.IsNull():
		return false, nil
	}
	return !property.Equal(now.StripSecretsAndOutputs(), before.StripSecretsAndOutputs()), nil
}

// ordered tells whether something other than a difference demands a replacement, and the key that events name.
func (r *differ) ordered(l Located) (why Reason, key string) {
	if r.Targeting.Replace.Matches(l.URN) {
		return Reason{Kind: ReasonRequested}, "id"
	}
	if l.Old.Taint {
		return Reason{Kind: ReasonTainted}, "id"
	}
	for _, u := range l.Goal.ReplaceWith {
		if r.outcomes.has(u, replaced) {
			return Reason{Kind: ReasonReplaceWith, Cause: u}, "replaceWith"
		}
	}
	if u := l.Goal.DeletedWith; u != "" && r.outcomes.has(u, replaced) {
		return Reason{Kind: ReasonDeletedWith, Cause: u}, "deletedWith"
	}
	return Reason{}, ""
}

// providerChanged tells whether a resource must be replaced because another provider manages it now (steps.md 3.8).
func (r *differ) providerChanged(ctx context.Context, l Located) (bool, error) {
	if l.Old.Provider == l.Goal.Provider {
		return false, nil
	}
	if l.Old.Provider == "" || l.Goal.Provider == "" {
		return true, nil
	}
	before, err := urn.ParseProviderRef(l.Old.Provider)
	if err != nil {
		return false, r.bail(l, codeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v' in the recorded state: %v", l.Old.Provider, l.URN, err))
	}
	now, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return false, r.bail(l, codeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v': %v", l.Goal.Provider, l.URN, err))
	}
	if before.URN != now.URN && r.names.newNameOf(before.URN) == now.URN {
		return false, nil
	}
	p, err := r.providerOf(l)
	if err != nil {
		return false, err
	}
	req := providers.DiffRequest{URN: now.URN, Name: now.URN.Name(), Type: now.URN.Type(), ID: now.ID, AllowUnknowns: true}
	if s := r.base.olds[before.URN]; s != nil {
		req.OldInputs, req.OldOutputs = providers.Configuration(s.Inputs), s.Outputs
	}
	if s, ok := r.world.lookup(now.URN); ok {
		req.NewInputs = providers.Configuration(s.Inputs)
	} else if s := r.base.providers[l.Goal.Provider]; s != nil {
		req.NewInputs = providers.Configuration(s.Inputs)
	}
	res, err := p.DiffConfig(ctx, req)
	if errors.Is(err, providers.ErrUnsupported) {
		return false, nil
	}
	return res.Replaces(), err
}

// callDiff calls the provider's Diff and completes its answer (steps.md 3.8 "interpreting the response").
func (r *access) callDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (providers.DiffResponse, error) {
	res, _, err := r.askDiff(ctx, p, u, old, news, allowUnknowns, ignore)
	return res, err
}

// askDiff is callDiff for those who want to know who has compared.
func (r *access) askDiff(ctx context.Context, p providers.Provider, u urn.URN, old *state.Resource, news property.Map,
	allowUnknowns bool, ignore []string,
) (providers.DiffResponse, Decider, error) {
	res, err := p.Diff(ctx, providers.DiffRequest{
		URN: u, Name: u.Name(), Type: u.Type(), ID: old.ID, OldInputs: old.Inputs, OldOutputs: old.Outputs,
		NewInputs: news, AllowUnknowns: allowUnknowns, IgnoreChanges: ignore,
	})
	var unavailable *providers.DiffUnavailableError
	if errors.As(err, &unavailable) {
		r.diagnose(u, Warning, 0, unavailable.Reason)
		return providers.DiffResponse{Changes: providers.DiffSome}, ByNotYet, nil
	}
	if err != nil {
		return res, ByNobody, err
	}
	switch res.Changes {
	case providers.DiffNone, providers.DiffSome:
	case providers.DiffUnknown:
		engineDiff(&res, old.Inputs, news, ignore)
		return res, ByEngine, nil
	default:
		return res, ByNobody, fmt.Errorf("unrecognized diff state for %s: %d", u, res.Changes)
	}
	return res, ByDiff, nil
}

// engineDiff compares inputs where the provider does not know. Its replace keys stay (steps.md 3.8).
func engineDiff(res *providers.DiffResponse, olds, news property.Map, ignore []string) {
	news, _ = ignoreChanges(ignore, olds, news)
	d := property.Diff(olds.StripSecretsAndOutputs(), news.StripSecretsAndOutputs(), nil)
	if d.IsEmpty() {
		res.Changes = providers.DiffNone
		return
	}
	res.Changes = providers.DiffSome
	res.ChangedKeys = d.ChangedKeys()
	res.DetailedDiff = map[string]providers.PropertyDiff{}
	for c := range d.Changes() {
		res.DetailedDiff[c.Path.String()] = providers.PropertyDiff{Kind: providers.KindOf(c), InputDiff: true}
	}
}

// recheck has the inputs of a replacement's new object checked, without old ones (steps.md 3.9). A replacement that will
// be refused is not checked again.
func (r *differ) recheck(ctx context.Context, d *Diffed) error {
	if !d.Goal.Custom || d.Raw || d.Reason.Kind == ReasonTainted || d.Reason.Kind == ReasonRequested {
		return nil
	}
	if !r.DryRun() && (r.isProtected(d.Located) || d.Goal.ImportID != "") {
		return nil
	}
	_, inputs, err := r.checkAnew(ctx, d.Analyzed)
	if err != nil {
		return err
	}
	d.Rechecked = &inputs
	return nil
}

// checkAnew has the program's inputs checked as those of a new object, and returns them as accepted. The analyzers may
// rewrite the answer as they did the first one: what they demand holds for replacements too.
func (r *differ) checkAnew(ctx context.Context, a Analyzed) (accepted, inputs property.Map, err error) {
	if accepted, err = r.checker.callCheck(ctx, a.Checked, property.Map{}, a.Goal.Inputs); err != nil {
		return accepted, accepted, err
	}
	a.Inputs = accepted
	inputs, err = r.analyst.remediate(ctx, a, func(Event) {}) // reported the first time
	return accepted, inputs, err
}

// isProtected tells whether a replacement must be refused: both the old and the new state say so, so that a resource can
// be unprotected and replaced in one update (steps.md 3.9).
func (r *book) isProtected(l Located) bool {
	return isTrue(l.Goal.Protect) && l.Old.Protect && !r.IgnoreProtect
}

// importRefusal says why a resource that still has an import ID may not be replaced (steps.md A.2).
func importRefusal(d Diffed) string {
	lines := []string{"previously-imported resources that still specify an ID may not be replaced; " +
		"please remove the `import` declaration from your program;"}
	for _, k := range d.Diff.ReplaceKeys {
		lines = append(lines, fmt.Sprintf("%s: %s => %s", k, shownValue(d.Old.Inputs.At(k)), shownValue(d.Inputs.At(k))))
	}
	return strings.Join(lines, "\n")
}
