package rules

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// declaredNow are the ways in which a program adds an option to a thing, and to something else than the thing itself.
func declaredNow(set func(*stages.TransformOptions), own option) map[string]func(s *script) []option {
	transform := func(_ context.Context, in stages.TransformInput) (stages.TransformInput, error) {
		if in.Custom {
			set(&in.Options)
		}
		return in, nil
	}
	transformed := func(r *stages.RegisterRequest) { r.Transforms = []stages.Transform{transform} }
	return map[string]func(s *script) []option{
		"itself":        func(*script) []option { return []option{own} },
		"its transform": func(*script) []option { return []option{transformed} },
		"its parent":    func(s *script) []option { return []option{parent(s.group("g", own))} },
		"the transform of its parent": func(s *script) []option {
			return []option{parent(s.group("g", transformed))}
		},
		"the transform of the stack": func(s *script) []option {
			s.err = s.m.RegisterStackTransform(s.ctx, transform)
			return nil
		},
	}
}

// replacements are edits that replace the thing "a".
var replacements = map[string]struct {
	before, after in
	with          []option
	options       func(*kit)
	changed       []string // if the old object is retained
}{
	"created first":           {in{"immutable": 1}, in{"immutable": 2}, nil, nil, []string{"create a"}},
	"deleted first":           {in{"dbr": 1}, in{"dbr": 2}, nil, nil, []string{"create a"}},
	"deleted first by option": {in{"immutable": 1}, in{"immutable": 2}, []option{deleteFirst(true)}, nil, []string{"create a"}},
	"by its trigger":          {nil, nil, []option{trigger("now")}, nil, []string{"create a"}},
	"by request": {nil, nil, nil, func(k *kit) {
		k.options.Targeting.Replace = set(k.t, "**::a")
	}, []string{"create a"}},
}

// declaring returns a program that declares "a" in a family.
func declaring(of func(s *script) []option, inputs in, with ...option) func(context.Context, stages.Monitor) error {
	return program(func(s *script) {
		own := of(s)
		s.thing("a", inputs, append(own, with...)...)
	})
}

// familyOf returns the family of declaredNow without the option.
func familyOf(how string) func(s *script) []option {
	return func(s *script) []option {
		if how == "its parent" || how == "the transform of its parent" {
			return []option{parent(s.group("g"))}
		}
		return nil
	}
}

func TestAnObjectIsRetainedByTheUpdateThatReplacesItAndSaysSo(t *testing.T) {
	yes := true
	for how, of := range declaredNow(func(o *stages.TransformOptions) { o.RetainOnDelete = &yes }, retain(true)) {
		for name, c := range replacements {
			t.Run(how+", "+name, func(t *testing.T) {
				k := newKit(t)
				k.up(declaring(familyOf(how), c.before, trigger("before")))
				if c.options != nil {
					c.options(k)
				}
				r := k.try(sluice.Update, declaring(of, c.after, c.with...))
				require.NoError(t, r.err)
				require.Equal(t, c.changed, r.changed())
				require.Equal(t, 1, r.Changes[stages.OpReplace])
				retained := false
				for _, s := range r.Steps() {
					retained = retained || s.Op == stages.OpDeleteReplaced && s.Retains()
				}
				require.True(t, retained)
			})
		}
	}
}

func TestAnObjectIsProtectedByTheUpdateThatReplacesItAndSaysSo(t *testing.T) {
	yes := true
	for how, of := range declaredNow(func(o *stages.TransformOptions) { o.Protect = &yes }, protect(true)) {
		for name, c := range replacements {
			t.Run(how+", "+name, func(t *testing.T) {
				k := newKit(t)
				k.up(declaring(familyOf(how), c.before, trigger("before")))
				before := k.names()
				if c.options != nil {
					c.options(k)
				}
				p := declaring(of, c.after, c.with...)
				k.try(sluice.Preview, p).requireFailure("as it is currently marked for protection")
				r := k.fails(p, "as it is currently marked for protection")
				require.Empty(t, r.changed())
				require.Equal(t, before, k.names())
				k.options.IgnoreProtect = true
				require.NoError(t, k.try(sluice.Update, p).err)
			})
		}
	}
}

// The option is recorded: it applies even if the update ends before the delete.
func TestAnObjectThatIsRetainedNowIsRetainedLater(t *testing.T) {
	k := newKit(t, failCreate("b", errRefused))
	k.up(program(one(in{"immutable": 1})))
	k.fails(program(func(s *script) {
		s.thing("a", in{"immutable": 2}, retain(true))
		s.thing("b", nil)
	}), "refused")
	require.ElementsMatch(t, []string{"a", "a (delete)"}, k.names())
	r := k.try(sluice.Update, nothing)
	require.NoError(t, r.err)
	require.Empty(t, r.changed())
	require.Empty(t, k.names())
}

// An old copy that an earlier update could not delete is one of the objects of the resource.
func TestAnOldCopyIsRetainedIfTheProgramSaysSoNow(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	k.up(program(one(in{"immutable": 1})))
	k.fails(program(one(in{"immutable": 2})), "refused to delete a")
	r := k.try(sluice.Update, program(one(in{"immutable": 2}, retain(true))))
	require.NoError(t, r.err)
	require.Empty(t, r.changed())
	require.Equal(t, []string{"a"}, k.names())
}

// The old copy is deleted before its dependencies, and not only at the end.
func TestAnOldCopyThatWouldGoFirstIsRetainedIfTheProgramSaysSoNow(t *testing.T) {
	for name, retains := range map[string]bool{"retained": true, "not retained": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "b", Nth: 1})
			k.up(program(func(s *script) { s.thing("b", in{"immutable": 1}, from("value", s.thing("a", in{"dbr": 1}))) }))
			k.fails(program(func(s *script) { s.thing("b", in{"immutable": 2}, from("value", s.thing("a", in{"dbr": 1}))) }), "refused to delete b")
			r := k.try(sluice.Update, program(func(s *script) {
				s.thing("b", in{"immutable": 2}, retain(retains))
				s.thing("a", in{"dbr": 2})
			}))
			require.NoError(t, r.err)
			want := []string{"update b", "delete b", "delete a", "create a"}
			if retains {
				want = []string{"update b", "delete a", "create a"}
			}
			require.Equal(t, want, r.changed())
			require.ElementsMatch(t, []string{"a", "b"}, k.names())
		})
	}
}

func TestAnImportThatReplacesRetainsTheOldObjectIfItSaysSo(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1})))
	k.exists("there", in{"x": 1})
	r := k.try(sluice.Update, program(one(in{"x": 1}, imports("there"), retain(true))))
	require.NoError(t, r.err)
	require.Empty(t, r.changed())
	require.Equal(t, "there", k.recorded("a").ID)
}

// The object that an import replaces is deleted, as in any replacement.
func TestAnImportThatReplacesIsRefusedIfTheResourceIsProtected(t *testing.T) {
	for name, recorded := range map[string]bool{"as recorded": true, "from now on": false} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": 1}, protect(recorded))))
			k.exists("there", in{"x": 1})
			p := program(one(in{"x": 1}, imports("there"), protect(true)))
			k.try(sluice.Preview, p).requireFailure("as it is currently marked for protection")
			r := k.fails(p, "as it is currently marked for protection")
			require.Empty(t, r.changed())
			require.Equal(t, idOf("a", 1), k.recorded("a").ID)

			k.options.IgnoreProtect = true
			require.Equal(t, []string{"delete a"}, k.try(sluice.Update, p).changed())
			require.Equal(t, "there", k.recorded("a").ID)
		})
	}
	t.Run("not any more", func(t *testing.T) {
		k := newKit(t)
		k.up(program(one(in{"x": 1}, protect(true))))
		k.exists("there", in{"x": 1})
		require.Equal(t, []string{"delete a"}, k.try(sluice.Update, program(one(in{"x": 1}, imports("there")))).changed())
	})
	t.Run("in place of what is only read", func(t *testing.T) {
		k := newKit(t)
		k.exists("there", in{"x": 1})
		k.exists("other", in{"x": 1})
		k.up(program(func(s *script) { s.read("a", "other") }))
		require.NoError(t, k.try(sluice.Update, program(one(in{"x": 1}, imports("there"), protect(true)))).err)
		require.Equal(t, "there", k.recorded("a").ID)
	})
}

// The object that a read replaces is deleted, too. A read cannot declare that the resource is not protected any more.
func TestAReadInThePlaceOfAProtectedResourceIsRefused(t *testing.T) {
	p := program(func(s *script) { s.read("a", "there") })
	for name, op := range map[string]operation{"update": sluice.Update, "destroy": sluice.Destroy} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": 1}, protect(true))))
			k.exists("there", in{"x": 1})
			running(k)
			k.try(sluice.Preview, p).requireFailure("as it is currently marked for protection")
			r := k.try(op, p)
			r.requireFailure("as it is currently marked for protection")
			require.Empty(t, r.changed())
			require.Equal(t, idOf("a", 1), k.recorded("a").ID)

			k.options.IgnoreProtect = true
			require.Equal(t, []string{"delete a"}, k.try(op, p).changed())
		})
	}
}

// An import cannot keep an object that a closure has deleted either, and reports that.
func TestProtectionOfAnImportThatComesTooLate(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": 1}))) }))
	k.exists("there", in{"immutableOf": "new"})
	p := program(func(s *script) {
		s.thing("a", in{"dbr": 2})
		s.thing("b", in{"immutableOf": "new"}, imports("there"), protect(true))
	})
	k.try(sluice.Preview, p).requireFailure("as it is currently marked for protection")
	k.try(sluice.Update, p).requireDiagnostic(stages.Warning, 0, "protect, which was not recorded yet, and comes too late")
	require.Equal(t, "there", k.recorded("b").ID)
}

// Without an old object, there is nothing to protect.
func TestAnInterruptedReplacementGoesOnAlthoughItIsProtectedNow(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodCreate, Name: "a", Nth: 2})
	k.up(program(one(in{"dbr": 1})))
	k.fails(program(one(in{"dbr": 2})), "refused to create a")
	k.up(program(one(in{"dbr": 2}, protect(true))))
	require.True(t, k.recorded("a").Protect)
}

// A dependent is deleted before the program declares it: a preview can refuse that, and nothing happens without a message.
func TestProtectionOfADependentThatComesTooLate(t *testing.T) {
	version := func(v int, with ...option) func(s *script) {
		return func(s *script) {
			s.thing("b", nil, append(with, from("immutableOf", s.thing("a", in{"dbr": v})))...)
		}
	}
	const late, done = "is not recorded yet, and comes too late", "which was not recorded yet, and comes too late. It counts for the new object"
	k := newKit(t)
	k.up(program(version(1)))
	r := k.try(sluice.Preview, program(version(2, protect(true))))
	r.requireFailure("as it is currently marked for protection")
	var refused *state.ProtectedError
	require.ErrorAs(t, r.err, &refused)
	require.Equal(t, &state.ProtectedError{URNs: []urn.URN{urnOf("b")}, Refused: state.RefusedReplace, With: urnOf("a")}, refused)
	k.preview(program(version(2, retain(true)))).requireDiagnostic(stages.Warning, 0, late)
	k.up(program(version(2, retain(true)))).requireDiagnostic(stages.Warning, 0, done)

	k.up(program(version(2, retain(true), protect(true))))
	k.fails(program(version(3, retain(true), protect(true))), "as it is currently marked for protection")
	k.options.IgnoreProtect = true
	r = k.try(sluice.Update, program(version(3, retain(true), protect(true))))
	require.NoError(t, r.err)
	require.Equal(t, []string{"delete a", "create a", "create b"}, r.changed())
}
