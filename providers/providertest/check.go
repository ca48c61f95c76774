package providertest

import (
	"context"
	"crypto/sha256"
	"reflect"
	"testing"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Case is a resource with which [Check] tries a provider.
type Case struct {
	Type   urn.Type
	Config property.Map // of the provider
	Inputs property.Map
	// Updated are inputs to which the resource can be updated in place, and Replaced inputs that need a replacement. Empty ones are not tried.
	Updated, Replaced property.Map
	// OnlyRecorded is true for a resource that exists only in the state of a stack, such as a random text: Read returns it as it is recorded.
	OnlyRecorded bool
	// Exists returns the objects that the provider has made so far, in any form that [reflect.DeepEqual] compares; nil if they cannot be seen. With
	// it Check verifies that previews, and calls that fail, make nothing.
	Exists func() any
}

// Check runs a resource through its life and fails the test if the provider does not fulfil the contract with engines
// ([protocol.md 3]). load starts the provider, more than once.
//
//   - Check gives the same inputs for the same seed, and for its own answer as old inputs. It accepts unknowns in a preview.
//   - Diff finds no difference in an unchanged resource, accepts unknowns, and recognises the need for a replacement.
//   - The previews of Create and Update change nothing, accept unknowns, and predict no wrong outputs.
//   - Create returns an ID, with which Read finds the results of Create and Update. Another instance of the provider finds the same.
//   - After a Delete, Read finds nothing, which is no error, and neither is another Delete.
//   - A call whose context has ended returns. Cancel and Close do. Calls may come from many goroutines; run the test with -race.
//
// [protocol.md 3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#3-providers
func Check(t testing.TB, load func() providers.Provider, c Case) {
	t.Helper()
	l := &life{t: t, load: load, Case: c, urn: urn.New("dev", "shop", "", c.Type, "checked")}
	p := l.start()
	if p == nil {
		return
	}
	defer l.end(p)
	checked, ok := l.check(p, property.Map{}, c.Inputs)
	if !ok {
		return
	}
	l.checkAgain(p, checked)
	foreseen, previewed := l.previewCreate(p, checked)
	made, err := p.Create(t.Context(), providers.CreateRequest{URN: l.urn, Name: "checked", Type: c.Type, Properties: checked})
	if err != nil {
		t.Errorf("Create: %v", err)
		return
	}
	l.made(made)
	if previewed {
		l.comesTrue("Create", foreseen, made.Properties)
	}
	r := recorded{id: made.ID, inputs: checked, outputs: made.Properties}
	l.read(p, r)
	l.unchanged(p, r)
	if c.Replaced.Len() > 0 {
		if news, ok := l.check(p, r.inputs, c.Replaced); ok {
			if d, ok := l.diff(p, r, news); ok && !d.Replaces() {
				t.Errorf("Diff: the change to %v needs a replacement, and the answer is %+v; name the property in ReplaceKeys", news, d)
			}
		}
	}
	if c.Updated.Len() > 0 {
		r = l.update(p, r)
	}
	if other := l.start(); other != nil {
		l.read(other, r)
		l.end(other)
	}
	l.delete(p, r)
	l.ended(p, checked)
}

// life is the life of one resource.
type life struct {
	Case
	t    testing.TB
	load func() providers.Provider
	urn  urn.URN
}

// recorded is the recorded part of a resource.
type recorded struct {
	id              string
	inputs, outputs property.Map
}

func (l *life) start() providers.Provider {
	l.t.Helper()
	p := l.load()
	if p == nil {
		l.t.Errorf("there is no provider")
		return nil
	}
	u := urn.New("dev", "shop", "", urn.Type("pulumi:providers:"+p.Package()), "default")
	answer, err := p.CheckConfig(l.t.Context(), providers.CheckRequest{URN: u, Name: u.Name(), Type: u.Type(), News: l.Config})
	if err != nil || len(answer.Failures) > 0 {
		l.t.Errorf("CheckConfig refuses the configuration: %v %v", answer.Failures, err)
		return nil
	}
	if err := p.Configure(l.t.Context(), providers.ConfigureRequest{URN: u, Name: u.Name(), Type: u.Type(), ID: "default", Inputs: answer.Inputs}); err != nil {
		l.t.Errorf("Configure: %v", err)
		return nil
	}
	return p
}

func (l *life) end(p providers.Provider) {
	l.t.Helper()
	if err := p.Cancel(context.WithoutCancel(l.t.Context())); err != nil {
		l.t.Errorf("Cancel: %v", err)
	}
	if err := p.Close(); err != nil {
		l.t.Errorf("Close: %v", err)
	}
}

func (l *life) request(olds, news property.Map) providers.CheckRequest {
	seed := sha256.Sum256([]byte("seed"))
	return providers.CheckRequest{URN: l.urn, Name: "checked", Type: l.Type, Olds: olds, News: news, RandomSeed: seed[:]}
}

func (l *life) check(p providers.Provider, olds, news property.Map) (property.Map, bool) {
	l.t.Helper()
	answer, err := p.Check(l.t.Context(), l.request(olds, news))
	if err != nil || len(answer.Failures) > 0 {
		l.t.Errorf("Check refuses %v: %v %v", news, answer.Failures, err)
		return answer.Inputs, false
	}
	if answer.Inputs.HasUnknowns() {
		l.t.Errorf("Check: %v has unknowns, and none came in", answer.Inputs)
	}
	return answer.Inputs, true
}

// checkAgain tests the other requirements for Check.
func (l *life) checkAgain(p providers.Provider, checked property.Map) {
	l.t.Helper()
	var callers conc.WaitGroup
	for range 8 {
		callers.Go(func() {
			if same, ok := l.check(p, property.Map{}, l.Inputs); ok && !property.EqualMaps(same, checked) {
				l.t.Errorf("Check: another answer for the same seed: %v, before %v", same, checked)
			}
		})
	}
	callers.Wait()
	if again, ok := l.check(p, checked, l.Inputs); ok && !property.EqualMaps(again, checked) {
		l.t.Errorf("Check: with its own answer as old inputs it gives %v, before %v", again, checked)
	}
	for name := range l.Inputs.All() {
		q := l.request(checked, l.Inputs.With(name, property.Computed()))
		q.AllowUnknowns = true
		if answer, err := p.Check(l.t.Context(), q); err != nil || len(answer.Failures) > 0 {
			l.t.Errorf("Check of a preview in which %s is unknown: %v %v", name, answer.Failures, err)
		}
	}
}

func (l *life) previewCreate(p providers.Provider, checked property.Map) (foreseen property.Map, ok bool) {
	l.t.Helper()
	create := func(inputs property.Map) (property.Map, bool) {
		answer, err := p.Create(l.t.Context(), providers.CreateRequest{URN: l.urn, Name: "checked", Type: l.Type, Properties: inputs, Preview: true})
		if err != nil {
			l.t.Errorf("the preview of Create with %v: %v", inputs, err)
		}
		return answer.Properties, err == nil
	}
	l.changesNothing("the preview of Create", func() {
		for name := range checked.All() {
			create(checked.With(name, property.Computed()))
		}
		foreseen, ok = create(checked)
	})
	return foreseen, ok
}

// changesNothing requires that f changes no existing object.
func (l *life) changesNothing(what string, f func()) {
	l.t.Helper()
	if l.Exists == nil {
		f()
		return
	}
	before := l.Exists()
	f()
	if after := l.Exists(); !reflect.DeepEqual(before, after) {
		l.t.Errorf("%s has changed what exists: it was %v and is %v", what, before, after)
	}
}

func (l *life) made(r providers.CreateResponse) {
	l.t.Helper()
	if r.ID == "" {
		l.t.Errorf("Create has returned no ID")
	}
	if r.Properties.HasUnknowns() {
		l.t.Errorf("Create has returned unknowns: %v", r.Properties)
	}
}

// comesTrue compares the outputs that a preview has predicted with the real ones.
func (l *life) comesTrue(what string, foreseen, came property.Map) {
	l.t.Helper()
	for name, v := range foreseen.All() {
		if is, ok := came.Get(name); !v.HasUnknowns() && (!ok || !property.Equal(v, is)) {
			l.t.Errorf("%s: the preview has said that %s is %v, and it is %v; return an unknown for what is not known", what, name, v, is)
		}
	}
}

// read requires that the resource equals its record.
func (l *life) read(p providers.Provider, r recorded) {
	l.t.Helper()
	answer, err := p.Read(l.t.Context(), l.readRequest(r))
	switch {
	case err != nil:
		l.t.Errorf("Read: %v", err)
	case answer.Absent || answer.ID == "":
		l.t.Errorf("Read does not find %q, which exists", r.id)
	case !property.EqualIgnoringSecrets(answer.Properties, r.outputs):
		l.t.Errorf("Read finds the outputs %v, and those recorded are %v", answer.Properties, r.outputs)
	case answer.HasInputs && !property.EqualIgnoringSecrets(answer.Inputs, r.inputs):
		l.t.Errorf("Read finds the inputs %v, and those recorded are %v", answer.Inputs, r.inputs)
	}
}

func (l *life) readRequest(r recorded) providers.ReadRequest {
	return providers.ReadRequest{URN: l.urn, Name: "checked", Type: l.Type, ID: r.id, Inputs: r.inputs, State: r.outputs, Known: true}
}

func (l *life) diff(p providers.Provider, r recorded, news property.Map) (providers.DiffResponse, bool) {
	l.t.Helper()
	answer, err := p.Diff(l.t.Context(), providers.DiffRequest{
		URN: l.urn, Name: "checked", Type: l.Type, ID: r.id, OldInputs: r.inputs, OldOutputs: r.outputs, NewInputs: news, AllowUnknowns: news.HasUnknowns(),
	})
	if err != nil {
		l.t.Errorf("Diff with %v: %v", news, err)
	}
	return answer, err == nil
}

func (l *life) unchanged(p providers.Provider, r recorded) {
	l.t.Helper()
	if d, ok := l.diff(p, r, r.inputs); ok && (d.Changes == providers.DiffSome || d.Replaces()) {
		l.t.Errorf("Diff finds a change where there is none: %+v", d)
	}
	for name := range r.inputs.All() {
		l.diff(p, r, r.inputs.With(name, property.Computed()))
	}
}

func (l *life) update(p providers.Provider, r recorded) recorded {
	l.t.Helper()
	news, ok := l.check(p, r.inputs, l.Updated)
	if !ok {
		return r
	}
	if d, ok := l.diff(p, r, news); ok && (d.Changes == providers.DiffNone || d.Replaces()) {
		l.t.Errorf("Diff: %v is a change in place, and the answer is %+v", news, d)
	}
	q := providers.UpdateRequest{
		URN: l.urn, Name: "checked", Type: l.Type, ID: r.id, OldInputs: r.inputs, OldOutputs: r.outputs, NewInputs: news, Preview: true,
	}
	var foreseen providers.UpdateResponse
	var err error
	l.changesNothing("the preview of Update", func() {
		if foreseen, err = p.Update(l.t.Context(), q); err != nil {
			l.t.Errorf("the preview of Update: %v", err)
		}
		unknown := q
		for name := range news.All() {
			unknown.NewInputs = news.With(name, property.Computed())
			if _, err := p.Update(l.t.Context(), unknown); err != nil {
				l.t.Errorf("the preview of Update, in which %s is unknown: %v", name, err)
			}
		}
	})
	l.read(p, r)
	q.Preview = false
	done, failed := p.Update(l.t.Context(), q)
	if failed != nil {
		l.t.Errorf("Update: %v", failed)
		return r
	}
	if err == nil {
		l.comesTrue("Update", foreseen.Properties, done.Properties)
	}
	r.inputs, r.outputs = news, done.Properties
	l.read(p, r)
	l.unchanged(p, r)
	return r
}

func (l *life) delete(p providers.Provider, r recorded) {
	l.t.Helper()
	for _, what := range []string{"Delete", "a second Delete"} {
		q := providers.DeleteRequest{URN: l.urn, Name: "checked", Type: l.Type, ID: r.id, Inputs: r.inputs, Outputs: r.outputs}
		if err := p.Delete(l.t.Context(), q); err != nil {
			l.t.Errorf("%s: %v", what, err)
			return
		}
		answer, err := p.Read(l.t.Context(), l.readRequest(r))
		if err != nil {
			l.t.Errorf("Read after %s: %v; what is not there is no error", what, err)
		} else if err := answer.Validate(); err != nil {
			l.t.Errorf("Read after %s: %v", what, err)
		} else if !answer.Absent && !l.OnlyRecorded {
			l.t.Errorf("Read after %s finds %q", what, answer.ID)
		}
	}
}

// ended makes a call whose context has ended. If it succeeds all the same, its object is deleted.
func (l *life) ended(p providers.Provider, checked property.Map) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	l.changesNothing("a Create whose context has ended", func() {
		made, err := p.Create(ctx, providers.CreateRequest{URN: l.urn, Name: "checked", Type: l.Type, Properties: checked})
		if err == nil {
			l.made(made)
			l.delete(p, recorded{id: made.ID, inputs: checked, outputs: made.Properties})
		}
	})
}
