package native

import (
	"context"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// Check refuses inputs that do not fit the types. The inputs stay as the program wrote them, without defaults. If the
// public plugin adds defaults, so does Check: the plugin then finds the same state as its own. Inputs that the
// description marks secret become secret.
func (p *provider) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.CheckResponse{}, err
	}
	news := req.News.DowngradeOutputs()
	failures := &complaints{}
	full := conformFields(news, r.Inputs, "", failures.add)
	ctx, done := p.during(ctx, 0)
	defer done()
	if err := p.enter(ctx, providers.MethodCheck, p.call(r.Inputs, req.URN, req.Name, "", full, property.Map{})); err != nil {
		return providers.CheckResponse{}, err
	}
	if len(failures.list) == 0 && r.Check != nil {
		failures.list = r.Check(ValuesOf(full))
	}
	for _, f := range r.Inputs {
		if v, ok := full.Get(f.Name); ok && p.description.KeepsDefaults && len(failures.list) == 0 {
			news = news.With(f.Name, v)
		}
		v, ok := news.Get(f.Name)
		if inner, _ := v.Unwrap(); ok && f.Secret && !inner.IsNull() {
			news = news.With(f.Name, property.MakeSecret(v))
		}
	}
	return providers.CheckResponse{Inputs: news, Failures: failures.list}, nil
}

// Diff compares the recorded outputs with the names of inputs, from which the resource was made, with the new inputs.
// Both are conformed and have defaults. A change of secretness is no difference.
func (p *provider) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	r, err := p.resource(req.Type)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	old, now := r.recorded(req.OldInputs, req.OldOutputs), conformFields(req.NewInputs.DowngradeOutputs(), r.Inputs, "", quietly)
	asked := now
	ctx, done := p.during(ctx, 0)
	defer done()
	if err := p.enter(ctx, providers.MethodDiff, p.call(r.Inputs, req.URN, req.Name, req.ID, asked, req.OldOutputs)); err != nil {
		return providers.DiffResponse{}, err
	}
	old, now = r.compared(old), r.compared(now)
	for _, f := range r.chosen(now) {
		if v, ok := old.Get(f.Name); ok {
			now = now.With(f.Name, v) // keep what the resource chose
		}
	}
	answer := providers.DiffResponse{Changes: providers.DiffNone, DetailedDiff: map[string]providers.PropertyDiff{}}
	ignored := func(path property.Path) bool {
		return len(path) == 1 && slices.Contains(req.IgnoreChanges, path.String())
	}
	diff := property.Diff(ValuesOf(old).Map(), ValuesOf(now).Map(), ignored)
	for change := range diff.Changes() {
		answer.DetailedDiff[change.Path.String()] = providers.PropertyDiff{Kind: r.kind(change), InputDiff: true}
	}
	for _, key := range diff.ChangedKeys() {
		answer.Changes = providers.DiffSome
		answer.ChangedKeys = append(answer.ChangedKeys, key)
		if r.replaces(key) {
			answer.ReplaceKeys = append(answer.ReplaceKeys, key)
		}
	}
	if r.Diff != nil {
		r.Diff(p.call(r.Inputs, req.URN, req.Name, req.ID, asked, req.OldOutputs), &answer)
	}
	return answer, nil
}

// compared returns the inputs that count in a comparison. An optional list or object that is empty counts as missing,
// since plugins differ in which of the two they record.
func (r *Resource) compared(inputs property.Map) property.Map {
	for _, f := range r.Inputs {
		v, _ := inputs.At(f.Name).Unwrap()
		empty := v.IsArray() && v.AsArray().Len() == 0 || v.IsMap() && v.AsMap().Len() == 0
		if f.Output == Unrecorded || empty && !f.Required {
			inputs = inputs.Without(f.Name)
		}
	}
	return inputs
}

func (r *Resource) replaces(input string) bool {
	for _, f := range r.Inputs {
		if f.Name == input {
			return f.Replace
		}
	}
	return false
}

func (r *Resource) kind(c property.Change) providers.DiffKind {
	kind := providers.KindOf(c)
	if r.replaces(c.Path[:1].String()) {
		return kind.AsReplace()
	}
	return kind
}

// recorded returns the current inputs of the resource.
func (r *Resource) recorded(inputs, outputs property.Map) property.Map {
	out := map[string]property.Value{}
	for _, f := range r.Inputs {
		if v, ok := outputs.Get(f.Name); ok {
			out[f.Name] = v
		} else if v, ok := inputs.Get(f.Name); ok {
			out[f.Name] = v
		}
	}
	return conformFields(property.NewMap(out), r.Inputs, "", quietly)
}

// Forget removes an input from an answer, as if it had not changed.
func Forget(answer *providers.DiffResponse, key string) {
	is := func(k string) bool { return k == key }
	answer.ReplaceKeys = slices.DeleteFunc(answer.ReplaceKeys, is)
	answer.ChangedKeys = slices.DeleteFunc(answer.ChangedKeys, is)
	for path := range answer.DetailedDiff {
		if p, err := property.ParsePath(path); err == nil && p[:1].String() == key {
			delete(answer.DetailedDiff, path)
		}
	}
	if len(answer.ChangedKeys) == 0 {
		answer.Changes = providers.DiffNone
	}
}
