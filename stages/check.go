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

// readWorkers is how many calls that change nothing may be under way at once. They wait for providers and cost little;
// limits for a provider that cannot take so many belong to its instance (providers.Limits). As many results may wait for
// the next stage, so that what is done needs no goroutine to wait in.
const readWorkers = 512

// Check is the stage that has providers validate inputs (steps.md 3.5). It calls Check of custom resources, and of the
// registry for provider resources; components and reads pass through. What its provider refuses stops the run.
func Check(run *Run) pipeline.Stage[Located, Checked] {
	r := run.checker()
	return pipeline.Stage[Located, Checked]{
		Name:    "check",
		Workers: readWorkers,
		Buffer:  readWorkers,
		Run: func(ctx context.Context, l Located, emit pipeline.Emit[Checked]) error {
			c, err := r.check(ctx, l)
			if err != nil {
				return err
			}
			if l.invalid != nil {
				return r.bailQuietly(l, fmt.Errorf("resource %s is invalid: %w", l.URN, l.invalid))
			}
			c.accepted = c.Inputs
			if err := r.holdToPlan(&c); err != nil {
				return err
			}
			return emit(c)
		},
	}
}

func (r *checker) check(ctx context.Context, l Located) (Checked, error) {
	c := Checked{Located: l}
	if l.Goal == nil || l.answered {
		return c, nil
	}
	if !l.Included || l.passive {
		if l.Old != nil {
			c.Inputs = l.Old.Inputs
		}
		return c, nil
	}
	if !l.Goal.Custom {
		c.Inputs = l.Goal.Inputs
		return c, nil
	}
	c.seed = r.seedFor(l.URN)
	if r.Autonamer != nil {
		options, random := r.Autonamer.Autoname(l.URN, c.seed)
		c.deleteFirst = options != nil && !random
		if !l.Goal.Type.IsProvider() { // CheckConfig is not told of names
			c.autonaming = options
		}
	}
	if err := r.ensureProvider(ctx, l); err != nil {
		return c, err
	}
	if err := r.extendFor(ctx, l); err != nil {
		return c, err
	}
	inputs, err := r.checkAgainst(ctx, &c)
	c.Inputs = inputs
	return c, err
}

// checkAgainst calls Check for a resource with a recorded state. What a refusal says only counts once it is certain that
// the state does.
func (r *checker) checkAgainst(ctx context.Context, c *Checked) (property.Map, error) {
	var olds, news property.Map
	olds, news, c.Raw = r.checkInputs(c.Located)
	p, err := r.providerOf(c.Located)
	if err != nil {
		return property.Map{}, err
	}
	res, err := p.Check(ctx, r.checkRequest(*c, olds, news))
	if !c.Raw && (err != nil || len(res.Failures) > 0) {
		forgotten, err := r.isForgottenAfterAll(ctx, c.Located)
		if err != nil {
			return property.Map{}, err
		}
		if forgotten {
			return r.checkAgainst(ctx, c)
		}
	}
	return r.accepted(*c, news, res, err)
}

// isForgotten tells whether the recorded state of a registration does not count any more because a delete-before-replace of
// something else has deleted it (steps.md 3.6 "recreate"). That goes by names: a resource that the program calls something
// else is checked and compared as usual, and is then one whose replacement has begun.
func (r *book) isForgotten(l Located) bool { return !l.isRenamed() && r.outcomes.isGone(l.claimed) }

// isForgottenAfterAll is isForgotten once every decision that could concern the recorded state has been made.
func (r *book) isForgottenAfterAll(ctx context.Context, l Located) (bool, error) {
	if l.claimed == nil || l.isRenamed() {
		return false, nil
	}
	if err := r.awaitDecisionsAbout(ctx, l.Seq, l.claimed); err != nil {
		return false, err
	}
	return r.isForgotten(l), nil
}

// checkInputs says what Check is called with (steps.md 3.5).
func (r *checker) checkInputs(l Located) (olds, news property.Map, raw bool) {
	if l.Old == nil || l.Old.External || l.Old.Taint || r.Targeting.Replace.Matches(l.URN) || r.isForgotten(l) {
		return property.Map{}, l.Goal.Inputs, true
	}
	return l.Old.Inputs, r.withoutIgnored(l), false
}

// withoutIgnored returns the program's inputs with the recorded values where changes are ignored, and says where that is
// impossible.
func (r *checker) withoutIgnored(l Located) property.Map {
	news, kept := ignoreChanges(l.Goal.IgnoreChanges, l.Old.Inputs, l.Goal.Inputs)
	if len(kept) > 0 {
		r.diagnose(l.URN, Info, 0, fmt.Sprintf("cannot ignore changes in added or removed elements of the path: %q", strings.Join(kept, ", ")))
	}
	return news
}

// ignoreChanges puts old values where the paths point (steps.md 3.4). It returns the paths for which that is impossible.
func ignoreChanges(paths []string, olds, news property.Map) (result property.Map, impossible []string) {
	result = news
	for _, text := range paths {
		p, err := property.ParsePath(text)
		if err != nil {
			continue
		}
		next, ok := property.Reset(p, olds, result)
		if !ok {
			impossible = append(impossible, text)
		}
		result = next
	}
	return result, impossible
}

// callCheck calls Check and reports what it refuses.
func (r *checker) callCheck(ctx context.Context, c Checked, olds, news property.Map) (property.Map, error) {
	p, err := r.providerOf(c.Located)
	if err != nil {
		return property.Map{}, err
	}
	res, err := p.Check(ctx, r.checkRequest(c, olds, news))
	return r.accepted(c, news, res, err)
}

func (r *checker) checkRequest(c Checked, olds, news property.Map) providers.CheckRequest {
	return providers.CheckRequest{
		URN: c.URN, Name: c.URN.Name(), Type: c.Goal.Type, Olds: olds, News: news, AllowUnknowns: r.DryRun(),
		RandomSeed: c.seed, Autonaming: c.autonaming,
	}
}

// accepted returns the inputs that a provider has accepted, or reports what it refuses.
func (r *checker) accepted(c Checked, news property.Map, res providers.CheckResponse, err error) (property.Map, error) {
	if err != nil {
		return property.Map{}, r.bail(c.Located, codeFailed, err)
	}
	if res.AutonamingUnsupported && c.autonaming != nil && c.autonaming.WarnIfUnsupported {
		r.warn(c.URN, "%s resource has a custom autonaming setting but the provider does not support autonaming configuration, "+
			"consider upgrading to a newer version", c.Goal.Type)
	}
	if len(res.Failures) == 0 {
		return res.Inputs, nil
	}
	var all []string
	for _, f := range res.Failures {
		code, text := checkFailure(c.URN, news, f)
		r.diagnose(c.URN, Error, code, text)
		all = append(all, text)
	}
	return property.Map{}, r.bailQuietly(c.Located, errors.New(strings.Join(all, "; ")))
}

func checkFailure(u urn.URN, inputs property.Map, f providers.CheckFailure) (int, string) {
	if f.Property == "" {
		return codeInvalidResource, fmt.Sprintf("%v resource '%v' has a problem: %v", u.Type(), u.Name(), f.Reason)
	}
	value := "<null>"
	if p, err := property.ParsePath(f.Property); err == nil {
		if v, ok := inputs.Lookup(p); ok {
			value = shownValue(v)
		}
	}
	return codeInvalidProperty, fmt.Sprintf("%v resource '%v': property %v value {%v} has a problem: %v",
		u.Type(), u.Name(), f.Property, value, f.Reason)
}

// shownValue is a value in a message: short, and never a secret.
func shownValue(v property.Value) string {
	const limit = 200
	switch {
	case v.HasSecrets():
		return "[secret]"
	case v.HasUnknowns():
		return "[unknown]"
	case v.IsNull():
		return "<null>"
	case v.IsString():
		if s := v.AsString(); len(s) > limit {
			return s[:limit] + "…"
		}
		return v.AsString()
	case v.IsNumber():
		return fmt.Sprint(v.AsNumber())
	case v.IsBool():
		return fmt.Sprint(v.AsBool())
	case v.IsArray():
		return fmt.Sprintf("array of %d", v.AsArray().Len())
	case v.IsMap():
		return fmt.Sprintf("object of %d", v.AsMap().Len())
	}
	return "…"
}

// providerOf returns the provider of a registration, which must be there by now (steps.md 3.3).
func (r *access) providerOf(l Located) (providers.Provider, error) {
	if l.Goal.Type.IsProvider() {
		return r.Registry, nil
	}
	ref, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return nil, r.bail(l, codeBadProvider, fmt.Errorf("bad provider reference '%v' for resource '%v': %v", l.Goal.Provider, l.URN, err))
	}
	if pkg, denied := ref.Denied(); denied {
		return nil, r.bail(l, codeProviderDenied, fmt.Errorf(deniedText, pkg, l.URN))
	}
	if p, ok := r.Registry.Lookup(ref); ok {
		return p, nil
	}
	return nil, r.bail(l, codeUnknownProvider, fmt.Errorf("unknown provider '%v' for resource '%v'", l.Goal.Provider, l.URN))
}

// ensureProvider starts the provider of a registration from its recorded state when this run has not registered it
// (steps.md 3.3). That state then needs a same step of its own: [builder.keepProvider].
func (r *access) ensureProvider(ctx context.Context, l Located) error {
	if l.Goal.Type.IsProvider() {
		return nil
	}
	ref, err := urn.ParseProviderRef(l.Goal.Provider)
	if err != nil {
		return nil // reported by providerOf
	}
	if _, ok := r.Registry.Lookup(ref); ok {
		return nil
	}
	recorded := r.base.providers[ref.String()]
	if recorded == nil || recorded.Delete {
		return nil // reported by providerOf
	}
	if _, err := r.Registry.Ensure(ctx, ref, recorded.Inputs); err != nil {
		return r.bail(l, codeFailed, fmt.Errorf("could not load provider for resource %v: %w", l.URN, err))
	}
	return nil
}

// providerFor returns the provider of a recorded state, starting it if need be (steps.md 3.3 "EnsureProvider") and
// with the extension that the state needs.
func (r *access) providerFor(ctx context.Context, s *state.Resource) (providers.Provider, error) {
	if s.Type.IsProvider() {
		return r.Registry, nil
	}
	ref, err := urn.ParseProviderRef(s.Provider)
	if err != nil {
		return nil, fmt.Errorf("bad provider reference '%v' for resource '%v': %w", s.Provider, s.URN, err)
	}
	if p, ok := r.Registry.Lookup(ref); ok {
		return r.extended(ctx, p, s)
	}
	recorded := r.base.providers[ref.String()]
	if recorded == nil {
		return nil, fmt.Errorf("could not load provider for resource %v: could not find provider %v", s.URN, ref)
	}
	p, err := r.Registry.Ensure(ctx, ref, recorded.Inputs)
	if err != nil {
		return nil, fmt.Errorf("could not load provider for resource %v: %w", s.URN, err)
	}
	return r.extended(ctx, p, s)
}
