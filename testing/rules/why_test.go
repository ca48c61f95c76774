package rules

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/testing/simulate"
	"github.com/sluice-iac/sluice/urn"
)

// why returns the operation's explanation of the only resource of that name.
func (r *ran) why(name string) string {
	r.t.Helper()
	log := r.Decisions()
	found := log.Find(name)
	require.Len(r.t, found, 1, name)
	return providerIDs.ReplaceAllString(chainText(log.Why(found[0])), "ID")
}

var providerIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// Each kind of reason is tested with the chain that it is part of.
func TestEveryKindOfReasonHasAChainToItsRoot(t *testing.T) {
	type example struct {
		kinds []stages.ReasonKind // of the links of the chain, in order
		do    func(k *kit) *ran
		ask   string
		want  string
		fails []providertest.Failure
	}
	target := func(names ...string) *urn.PatternSet {
		var us []string
		for _, n := range names {
			us = append(us, string(urnOf(n)))
		}
		set, err := urn.CompileSet(us...)
		require.NoError(t, err)
		return set
	}
	diff := func(answer providers.DiffResponse) func(*providertest.Fake) {
		return func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) { return answer, nil }
		}
	}
	pair := func(inputs in, name string, with ...option) func(*script) {
		return func(s *script) { s.thing("b", nil, append(with, from(name, s.thing("a", inputs)))...) }
	}
	tests := map[string]example{
		"new": {[]stages.ReasonKind{stages.ReasonNew}, func(k *kit) *ran {
			return k.up(program(one(in{"x": 1})))
		}, "a", `create a [new] <= program
`, nil},
		"a new default provider": {[]stages.ReasonKind{stages.ReasonNew}, func(k *kit) *ran {
			return k.up(program(one(in{"x": 1})))
		}, "default", `create default [new] <= configuration
`, nil},
		"unchanged": {[]stages.ReasonKind{stages.ReasonUnchanged}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			return k.up(program(one(in{"x": 1})))
		}, "a", `same a [unchanged] by Diff <= none
`, nil},
		"ignored": {[]stages.ReasonKind{stages.ReasonUnchanged}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1, "y": 1}, ignore("x"))))
			r := k.up(program(one(in{"x": 2, "y": 1}, ignore("x"))))
			require.Equal(k.t, []string{"x"}, r.Why(urnOf("a")).Links[0].Ignored)
			return r
		}, "a", `same a [unchanged] by Diff <= none
`, nil},
		"options": {[]stages.ReasonKind{stages.ReasonOptions}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			return k.up(program(one(in{"x": 1}, protect(true), retain(true))))
		}, "a", `same a [options protect(program) false=>true retainOnDelete(program) false=>true] by Diff <= program
`, nil},
		"inputs": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1, "tags": in{"a": 1, "b": 2}})))
			return k.up(program(one(in{"x": "two", "tags": in{"a": 1, "b": 3, "c": 4}})))
		}, "a", `update a [inputs tags.b(program) 2=>3 tags.c(program) =>4 x(program) 1=>"two"] by Diff <= program
`, nil},
		"secret inputs": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"x": secret("sesame"), "y": in{"z": secret("sesame")}})))
			return k.up(program(one(in{"x": "sesame", "y": in{"z": secret("open")}})))
		}, "a", `update a [inputs y.z(program) "[secret]"=>"[secret]"] by Diff <= program
`, nil},
		"a chain of inputs": {[]stages.ReasonKind{stages.ReasonInputs, stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(pair(in{"immutable": 1}, "of")))
			return k.preview(program(pair(in{"immutable": 2}, "of")))
		}, "b", `update b [inputs of(resource) "arn:` + idOf("a", 1) + `"=>"[unknown]"] by Diff <- a
  replace a [inputs immutable(program) 1=>2] by Diff <= program
`, nil},
		"filled in by Check": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			size := 1
			k.fake = func(f *providertest.Fake) {
				f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
					return providers.CheckResponse{Inputs: r.News.With("size", value(size))}, nil
				}
			}
			k.up(program(one(in{"x": 1})))
			size = 2
			return k.up(program(one(in{"x": 1})))
		}, "a", `update a [inputs size(check) 1=>2] by Diff <= provider
`, nil},
		"the provider says what, and the inputs are the same": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.fake = diff(providers.DiffResponse{Changes: providers.DiffSome, DetailedDiff: map[string]providers.PropertyDiff{
				"x": {Kind: providers.DiffUpdate}}})
			return k.up(program(one(in{"x": 1})))
		}, "a", `update a [inputs x(provider) 1=>1] by Diff <= provider
`, nil},
		"the provider does not say what": {[]stages.ReasonKind{stages.ReasonProviderSaysSo}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.fake = diff(providers.DiffResponse{Changes: providers.DiffSome})
			return k.up(program(one(in{"x": 1})))
		}, "a", `update a [provider-decided] by Diff <= provider
`, nil},
		"the provider does not say what, but an input changed": {[]stages.ReasonKind{stages.ReasonProviderSaysSo}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.fake = diff(providers.DiffResponse{Changes: providers.DiffSome})
			return k.up(program(one(in{"x": 2})))
		}, "a", `update a [provider-decided x(program) 1=>2] by Diff <= program
`, nil},
		"the provider leaves it to the engine": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.fake = diff(providers.DiffResponse{})
			return k.up(program(one(in{"x": 2})))
		}, "a", `update a [inputs x(program) 1=>2] by engine <= program
`, nil},
		"replaceOnChanges": {[]stages.ReasonKind{stages.ReasonReplaceOnChanges, stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(pair(in{"immutable": 1}, "x", replaceOn("x"))))
			return k.up(program(pair(in{"immutable": 2}, "x", replaceOn("x"))))
		}, "b", `replace b [replace-on-changes x(resource) "arn:` + idOf("a", 1) + `"=>"arn:` + idOf("a", 2) + `"] by Diff <- a
  replace a [inputs immutable(program) 1=>2] by Diff <= program
`, nil},
		"replacement trigger": {[]stages.ReasonKind{stages.ReasonTrigger}, func(k *kit) *ran {
			k.up(program(one(nil, trigger("1"))))
			return k.up(program(one(nil, trigger("2"))))
		}, "a", `replace a [replacement-trigger replacementTrigger(program) "1"=>"2"] <= program
`, nil},
		"deleted first, two levels down": {[]stages.ReasonKind{stages.ReasonDependency, stages.ReasonDependency, stages.ReasonInputs}, func(k *kit) *ran {
			version := func(v int) func(*script) {
				return func(s *script) {
					b := s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v})))
					s.thing("c", nil, from("immutableOf", b))
				}
			}
			k.up(program(version(1)))
			return k.up(program(version(2)))
		}, "c", `replace c [dependency-replaced immutableOf(resource) "arn:` + idOf("b", 1) + `"=>] first  <- b
  replace b [dependency-replaced immutableOf(resource) "arn:` + idOf("a", 1) + `"=>] first  <- a
  replace a [inputs dbr(program) 1=>2] by Diff first provider <= program
`, nil},
		"deleted first and no longer declared": {[]stages.ReasonKind{stages.ReasonNotInProgram, stages.ReasonDependency, stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(pair(in{"dbr": 1}, "immutableOf")))
			return k.up(program(one(in{"dbr": 2})))
		}, "b", `remove-pending-replace b [not-in-program] <= program
delete-replaced b [dependency-replaced immutableOf(resource) "arn:` + idOf("a", 1) + `"=>] <- a
  replace a [inputs dbr(program) 1=>2] by Diff first provider <= program
`, nil},
		"replaceWith": {[]stages.ReasonKind{stages.ReasonReplaceWith, stages.ReasonInputs}, func(k *kit) *ran {
			version := func(v int) func(*script) {
				return func(s *script) { s.thing("b", nil, replaceWith(s.thing("a", in{"immutable": v}))) }
			}
			k.up(program(version(1)))
			return k.up(program(version(2)))
		}, "b", `replace b [replace-with] <- a
  replace a [inputs immutable(program) 1=>2] by Diff <= program
`, nil},
		"deletedWith": {[]stages.ReasonKind{stages.ReasonDeletedWith, stages.ReasonInputs}, func(k *kit) *ran {
			version := func(v int) func(*script) {
				return func(s *script) { s.thing("b", nil, deletedWith(s.thing("a", in{"dbr": v}))) }
			}
			k.up(program(version(1)))
			k.foreign = []string{idOf("b", 1)} // it is deleted with the other object
			return k.up(program(version(2)))
		}, "b", `replace b [deleted-with] first  <- a
  replace a [inputs dbr(program) 1=>2] by Diff first provider <= program
`, nil},
		"a replaced provider": {[]stages.ReasonKind{stages.ReasonProviderChanged, stages.ReasonInputs}, func(k *kit) *ran {
			version := func(v int) func(*script) {
				return func(s *script) {
					_, ref := s.provider("p", in{"immutable": v})
					s.thing("a", nil, via(ref))
				}
			}
			k.up(program(version(1)))
			r := k.up(program(version(2)))
			require.Equal(k.t, "provider", r.Why(urnOf("a")).Links[0].Options[0].Path)
			return r
		}, "a", `replace a [provider-changed provider(resource) "urn:pulumi:dev::p::pulumi:providers:test::p::ID"=>"urn:pulumi:dev::p::pulumi:providers:test::p::ID"] by DiffConfig <- p
  replace p [inputs immutable(program) 1=>2] by Diff <= program
`, nil},
		"another provider": {[]stages.ReasonKind{stages.ReasonProviderChanged}, func(k *kit) *ran {
			version := func(n int) func(*script) {
				return func(s *script) {
					_, one := s.provider("one", in{"immutable": 1})
					_, two := s.provider("two", in{"immutable": 2})
					s.thing("a", nil, via([]string{one, two}[n]))
				}
			}
			k.up(program(version(0)))
			return k.up(program(version(1)))
		}, "a", `replace a [provider-changed provider(program) "urn:pulumi:dev::p::pulumi:providers:test::one::ID"=>"urn:pulumi:dev::p::pulumi:providers:test::two::ID"] by DiffConfig <= program
`, nil},
		"requested": {[]stages.ReasonKind{stages.ReasonRequested}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.options.Targeting.Replace = target("a")
			return k.up(program(one(in{"x": 1})))
		}, "a", `replace a [requested] <= command
`, nil},
		"tainted": {[]stages.ReasonKind{stages.ReasonTainted}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.change("a", func(r *state.Resource) { r.Taint = true })
			return k.up(program(one(in{"x": 1})))
		}, "a", `replace a [tainted] <= record
`, nil},
		"interrupted": {[]stages.ReasonKind{stages.ReasonInterrupted}, func(k *kit) *ran {
			k.up(program(one(in{"dbr": 1})))
			k.fails(program(one(in{"dbr": 2})), "refused")
			return k.up(program(one(in{"dbr": 2})))
		}, "a", `replace a [interrupted] first interrupted <= record
`, []providertest.Failure{{Method: providers.MethodCreate, Name: "a", Nth: 2}}},
		"not healthy": {[]stages.ReasonKind{stages.ReasonInitErrors}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			k.change("a", func(r *state.Resource) { r.InitErrors = []string{"unwell"} })
			return k.up(program(one(in{"x": 1})))
		}, "a", `update a [init-errors] <= record
`, nil},
		"not healthy, and replaceOnChanges names that": {[]stages.ReasonKind{stages.ReasonReplaceOnChanges}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1}, replaceOn("#initerror"))))
			k.change("a", func(r *state.Resource) { r.InitErrors = []string{"unwell"} })
			return k.up(program(one(in{"x": 1}, replaceOn("#initerror"))))
		}, "a", `replace a [replace-on-changes] by Diff <= record
`, nil},
		"no longer declared": {[]stages.ReasonKind{stages.ReasonNotInProgram}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			return k.up(program(func(*script) {}))
		}, "a", `delete a [not-in-program] <= program
`, nil},
		"with its component": {[]stages.ReasonKind{stages.ReasonNotInProgram, stages.ReasonNotInProgram}, func(k *kit) *ran {
			k.up(program(func(s *script) { s.thing("a", nil, parent(s.group("g"))) }))
			return k.up(program(func(*script) {}))
		}, "a", `delete a [not-in-program] <- g
  delete g [not-in-program] <= program
`, nil},
		"an old copy that could not be deleted": {[]stages.ReasonKind{stages.ReasonUnchanged, stages.ReasonReplaced}, func(k *kit) *ran {
			k.up(program(one(in{"immutable": 1})))
			k.fails(program(one(in{"immutable": 2})), "refused")
			return k.up(program(one(in{"immutable": 2})))
		}, "a", `same a [unchanged] by Diff <= none
delete-replaced a [replaced] <= record
`, []providertest.Failure{{Method: providers.MethodDelete, Name: "a", Nth: 1}}},
		"taken over": {[]stages.ReasonKind{stages.ReasonTakenOver}, func(k *kit) *ran {
			k.exists("x", in{"size": 1})
			k.up(program(func(s *script) { s.read("a", "x") }))
			return k.up(program(one(in{"size": 1})))
		}, "a", `replace a [taken-over] <= program
`, nil},
		"destroyed": {[]stages.ReasonKind{stages.ReasonDestroy}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			return k.destroy()
		}, "a", `delete a [destroy] <= command
`, nil},
		"not targeted": {[]stages.ReasonKind{stages.ReasonNotTargeted}, func(k *kit) *ran {
			both := func(v int) func(*script) {
				return func(s *script) { s.thing("a", in{"x": v}); s.thing("b", in{"x": v}) }
			}
			k.up(program(both(1)))
			k.options.Targeting.Targets = target("b")
			return k.up(program(both(2)))
		}, "a", `same a [not-targeted] <= command
`, nil},
		"used as it is recorded": {[]stages.ReasonKind{stages.ReasonCarriedForward, stages.ReasonInputs}, func(k *kit) *ran {
			var ref string
			k.up(program(func(s *script) {
				_, ref = s.provider("p", nil)
				s.thing("a", in{"x": 1}, via(ref))
			}))
			return k.up(program(func(s *script) { s.thing("a", in{"x": 2}, via(ref)) }))
		}, "p", `same p [carried] <- a
  update a [inputs x(program) 1=>2] by Diff <= program
`, nil},
		"changed outside": {[]stages.ReasonKind{stages.ReasonDrift}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			require.NoError(k.t, k.cloud.Put(providertest.Record{ID: idOf("a", 1), URN: urnOf("a"), Inputs: values(in{"x": 2})}))
			return k.try(sluice.Refresh, nil)
		}, "a", `update a [drift x(outside) 1=>2] by Read <= outside
`, nil},
		"changed outside and put right": {[]stages.ReasonKind{stages.ReasonInputs, stages.ReasonDrift}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			require.NoError(k.t, k.cloud.Put(providertest.Record{ID: idOf("a", 1), URN: urnOf("a"), Inputs: values(in{"x": 2})}))
			k.options.Refresh = true
			return k.up(program(one(in{"x": 1})))
		}, "a", `update a [inputs x(outside) 2=>1] by Diff <= outside
refresh a [drift x(outside) 1=>2] by Read <= outside
`, nil},
		"deleted outside": {[]stages.ReasonKind{stages.ReasonVanished, stages.ReasonVanished}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			require.NoError(k.t, k.cloud.Remove(idOf("a", 1)))
			k.options.Refresh = true
			return k.up(program(one(in{"x": 1})))
		}, "a", `create a [vanished] <= outside
refresh a [vanished] by Read <= outside
`, nil},
		"imported": {[]stages.ReasonKind{stages.ReasonImport, stages.ReasonInputs}, func(k *kit) *ran {
			k.exists("x", in{"size": 1})
			k.foreign = nil
			return k.up(program(one(in{"size": 2}, func(r *stages.RegisterRequest) { r.ImportID = "x" })))
		}, "a", `import a [import] <= program
update a [inputs size(program) 1=>2] by Diff <= program
`, nil},
		"read": {[]stages.ReasonKind{stages.ReasonRead}, func(k *kit) *ran {
			k.exists("x", in{"size": 1})
			return k.up(program(func(s *script) { s.read("a", "x") }))
		}, "a", `read a [read] <= program
`, nil},
		"another one read": {[]stages.ReasonKind{stages.ReasonReadOther}, func(k *kit) *ran {
			k.up(program(one(in{"size": 1})))
			k.exists("y", in{"size": 1})
			return k.up(program(func(s *script) { s.read("a", "y") }))
		}, "a", `replace a [read-other] <= program
`, nil},
		"a failure, and what still uses something": {[]stages.ReasonKind{stages.ReasonInputs, stages.ReasonNeeded}, func(k *kit) *ran {
			k.up(program(pair(in{"immutable": 1}, "of")))
			k.options.ContinueOnError = true
			return k.fails(program(pair(in{"immutable": 2}, "of")), "refused")
		}, "a", `replace a [inputs immutable(program) 1=>2] by Diff <= program
same a [needed] <= failure
`, []providertest.Failure{{Method: providers.MethodUpdate, Update: true}}},
		"a failure, and what was not declared": {[]stages.ReasonKind{stages.ReasonUndecided}, func(k *kit) *ran {
			k.up(program(pair(in{"x": 1}, "of")))
			k.options.ContinueOnError = true
			return k.fails(program(func(s *script) { s.thing("b", in{"of": "other"}) }), "refused")
		}, "a", `same a [undecided] <= failure
`, []providertest.Failure{{Method: providers.MethodUpdate, Update: true}}},
		"a failure of what the undeclared uses": {[]stages.ReasonKind{stages.ReasonUndecided, stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(pair(in{"x": 1}, "of")))
			k.options.ContinueOnError = true
			return k.fails(program(one(in{"x": 2})), "refused")
		}, "b", `same b [undecided] <- a
  update a [inputs x(program) 1=>2] by Diff failed <= failure <= program
`, []providertest.Failure{{Method: providers.MethodUpdate, Update: true}}},
		"what the program could not declare": {[]stages.ReasonKind{stages.ReasonOmitted, stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(pair(in{"x": 1}, "of")))
			k.options.ContinueOnError = true
			return k.fails(program(func(s *script) {
				s.thing("a", in{"x": 2})
				require.Equal(k.t, urnOf("b"), s.omit("b", urnOf("a")))
			}), "refused")
		}, "b", `same b [omitted] skipped <- a
  update a [inputs x(program) 1=>2] by Diff failed <= failure <= program
`, []providertest.Failure{{Method: providers.MethodUpdate, Update: true}}},
		"skipped": {[]stages.ReasonKind{stages.ReasonInputs, stages.ReasonInputs}, func(k *kit) *ran {
			version := func(v int) func(s *script) {
				return func(s *script) {
					a := s.thing("a", in{"x": v})
					s.err = nil
					s.thing("b", in{"y": v}, func(r *stages.RegisterRequest) {
						r.Dependencies = []urn.URN{urnOf("a")}
						r.PropertyDependencies["y"] = nil
					})
					_ = a
				}
			}
			k.up(program(version(1)))
			k.options.ContinueOnError = true
			return k.fails(program(version(2)), "refused")
		}, "b", `update b [inputs y(program) 1=>2] by Diff skipped <- a <= program
  update a [inputs x(program) 1=>2] by Diff failed <= failure <= program
`, []providertest.Failure{{Method: providers.MethodUpdate, Update: true}}},
		"renamed and deleted first": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"dbr": 1})))
			return k.up(program(func(s *script) { s.thing("c", in{"dbr": 2}, alias(urn.Alias{URN: urnOf("a")})) }))
		}, string(urnOf("a")), `replace c [inputs dbr(program) 1=>2] by Diff first provider <= program
`, nil},
		"under the name before": {[]stages.ReasonKind{stages.ReasonInputs}, func(k *kit) *ran {
			k.up(program(one(in{"x": 1})))
			r := k.up(program(func(s *script) { s.thing("c", in{"x": 2}, alias(urn.Alias{URN: urnOf("a")})) }))
			require.Equal(k.t, urnOf("a"), r.Why(urnOf("c")).Links[0].OldURN)
			return r
		}, string(urnOf("a")), `update c [inputs x(program) 1=>2] by Diff <= program
`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := test.do(newKit(t, test.fails...))
			require.Equal(t, test.want, r.why(test.ask))
			e := r.Why(r.Decisions().Find(test.ask)[0])
			var kinds []stages.ReasonKind
			for _, l := range e.Links {
				kinds = append(kinds, l.Reason)
				require.NotEmpty(t, l.Because)
			}
			require.Equal(t, test.kinds, kinds)
			require.Empty(t, simulate.Reasons(r.Result))
		})
	}
}

// The old copy has the name of the resource.
func TestTheFailureOfAnOldCopyIsNotThatOfTheResource(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1})))
	k.fake = func(f *providertest.Fake) {
		f.OnDelete = func(context.Context, providers.DeleteRequest) error { return errors.New("it is in use") }
	}
	p := program(one(in{"immutable": 2}))
	require.Error(t, k.try(sluice.Update, p).err)
	r := k.try(sluice.Update, p)
	require.ErrorContains(t, r.err, "it is in use")
	links := r.Why(urnOf("a")).Links
	require.Equal(t, stages.OpSame, links[0].Op)
	require.Empty(t, links[0].Fate)
	require.Empty(t, links[0].Errors)
}
