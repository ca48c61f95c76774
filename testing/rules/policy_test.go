package rules

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// analyzer is an analyzer that consists of functions.
type analyzer struct {
	name          string
	policies      []stages.PolicyInfo
	analyze       func(stages.Analysis) []stages.Violation
	remediate     func(stages.Analysis) []stages.Remediation
	stack         func([]stages.StackResource) []stages.Violation
	notApplicable []string
	err           error
	cancel        func()
}

func (a analyzer) Info() stages.AnalyzerInfo {
	if a.name == "" {
		a.name = "policies"
	}
	return stages.AnalyzerInfo{Name: a.name, Version: "1.2.3", Policies: a.policies}
}

func (a analyzer) Analyze(_ context.Context, r stages.Analysis) (stages.Findings, error) {
	if a.analyze == nil {
		return stages.Findings{}, a.err
	}
	return stages.Findings{Violations: a.analyze(r), NotApplicable: a.notApplicable}, a.err
}

func (a analyzer) Remediate(_ context.Context, r stages.Analysis) (stages.Remedies, error) {
	if a.remediate == nil {
		return stages.Remedies{}, nil
	}
	return stages.Remedies{Remediations: a.remediate(r)}, nil
}

func (a analyzer) AnalyzeStack(_ context.Context, rs []stages.StackResource) (stages.Findings, error) {
	if a.stack == nil {
		return stages.Findings{}, nil
	}
	return stages.Findings{Violations: a.stack(rs)}, nil
}

func (a analyzer) Cancel(context.Context) error {
	if a.cancel != nil {
		a.cancel()
	}
	return nil
}

// eventsOf returns the events of one type.
func eventsOf[T stages.Event](r *ran) []T {
	var out []T
	for _, e := range r.events {
		if x, ok := e.(T); ok {
			out = append(out, x)
		}
	}
	return out
}

// violations returns the policy violations, as "mandatory policy@name: message".
func (r *ran) violations() []string {
	var out []string
	for _, v := range eventsOf[stages.PolicyViolation](r) {
		out = append(out, fmt.Sprintf("%s %s@%s: %s", v.Level, v.Policy.Name, v.URN.Name(), v.Message))
	}
	return out
}

// policies adds analyzers to every operation.
func (k *kit) policies(as ...stages.Analyzer) { k.options.Analyzers = as }

func policyName(name string) stages.PolicyName {
	return stages.PolicyName{Pack: "policies", Version: "1.2.3", Name: name}
}

func TestRemediationChangesInputs(t *testing.T) {
	k := newKit(t)
	add := func(letter string) analyzer {
		return analyzer{remediate: func(r stages.Analysis) []stages.Remediation {
			if r.Name != "a" {
				return nil
			}
			m := r.Properties.With("tags", property.String(r.Properties.At("tags").AsString()+letter))
			return []stages.Remediation{{Policy: "tag-" + letter, Properties: &m}}
		}}
	}
	var analyzed property.Map
	last := analyzer{analyze: func(r stages.Analysis) []stages.Violation {
		if r.Name == "a" {
			analyzed = r.Properties
		}
		return nil
	}}
	k.policies(add("1"), add("2"), last)
	r := k.up(program(one(in{"tags": ""})))
	require.Equal(t, "12", askedOnce[providers.CreateRequest](r, "a").Properties.At("tags").AsString())
	require.Equal(t, "12", k.recorded("a").Inputs.At("tags").AsString())
	require.Equal(t, "12", analyzed.At("tags").AsString())
	require.Equal(t, []stages.PolicyRemediation{
		{Policy: policyName("tag-1"), URN: urnOf("a"), Before: values(in{"tags": ""}), After: values(in{"tags": "1"})},
		{Policy: policyName("tag-2"), URN: urnOf("a"), Before: values(in{"tags": "1"}), After: values(in{"tags": "12"})},
	}, eventsOf[stages.PolicyRemediation](r))
}

func TestRemediationKeepsUnknownsSecretsAndInternalProperties(t *testing.T) {
	k := newKit(t)
	var judged property.Map
	k.policies(analyzer{
		remediate: func(r stages.Analysis) []stages.Remediation {
			if r.Name != "b" {
				return nil
			}
			m := r.Properties.With("encrypted", property.Bool(true))
			return []stages.Remediation{{Policy: "encrypt", Properties: &m}}
		},
		analyze: func(r stages.Analysis) []stages.Violation {
			if r.Name == "b" {
				judged = r.Properties
			}
			return nil
		},
	})
	p := program(func(s *script) {
		a := s.thing("a", nil)
		s.thing("b", in{"password": secret("hunter2"), "__defaults": "kept"}, from("of", a))
	})
	r := k.preview(p)
	created := r.step(stages.OpCreate, "b").New.Inputs
	require.True(t, created.At("of").IsUnknown())
	require.Equal(t, secret("hunter2"), created.At("password"))
	require.Equal(t, "kept", created.At("__defaults").AsString())
	require.True(t, created.At("encrypted").AsBool())
	require.True(t, judged.At("of").IsUnknown())
	require.Equal(t, secret("hunter2"), judged.At("password"))
	require.NotContains(t, judged.Names(), "__defaults", "policies do not judge what is internal")
	k.up(p)
	require.Equal(t, secret("hunter2"), k.recorded("b").Inputs.At("password"))
}

func TestRemediationHoldsForReplacementsToo(t *testing.T) {
	for _, property1 := range []string{"immutable", "dbr"} {
		k := newKit(t)
		k.policies(analyzer{remediate: func(r stages.Analysis) []stages.Remediation {
			m := r.Properties.With("encrypted", property.Bool(true))
			return []stages.Remediation{{Policy: "p", Properties: &m}}
		}})
		version := func(v int) func(s *script) {
			return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{property1: v}))) }
		}
		k.up(program(version(1)))
		r := k.up(program(version(2)))
		for _, name := range []string{"a", "b"} {
			require.True(t, askedOnce[providers.CreateRequest](r, name).Properties.At("encrypted").AsBool(), name)
		}
	}
}

func TestRemediationThatCannotIsAdvice(t *testing.T) {
	k := newKit(t)
	k.policies(analyzer{remediate: func(r stages.Analysis) []stages.Remediation {
		ignored := values(in{"must": "not count"})
		return []stages.Remediation{{Policy: "p", Diagnostic: "cannot fix " + r.Name, Properties: &ignored}}
	}})
	r := k.up(program(one(nil)))
	require.Contains(t, r.violations(), "advisory p@a: cannot fix a")
	require.Empty(t, k.recorded("a").Inputs.Names())
	require.Empty(t, eventsOf[stages.PolicyRemediation](r))
}

func TestRemediationThatFails(t *testing.T) {
	k := newKit(t)
	k.policies(failing{analyzer{}})
	r := k.fails(program(one(nil)), "policies: failed to run remediation: refused")
	require.Empty(t, r.changed())
}

type failing struct{ analyzer }

func (failing) Remediate(context.Context, stages.Analysis) (stages.Remedies, error) {
	return stages.Remedies{}, errRefused
}

// violating returns an analyzer with a policy against resources of that name.
func violating(level stages.EnforcementLevel, name string) analyzer {
	return analyzer{analyze: func(r stages.Analysis) []stages.Violation {
		if r.Name != name {
			return nil
		}
		return []stages.Violation{{Policy: "no-" + name, Message: name + " is bad", Level: level}}
	}}
}

func TestViolationsByLevel(t *testing.T) {
	p := program(func(s *script) { s.thing("a", nil); s.thing("b", nil) })
	for _, level := range []stages.EnforcementLevel{stages.Mandatory, stages.Remediate} {
		k := newKit(t)
		k.policies(violating(level, "a"))
		r := k.fails(p, "resource "+string(urnOf("a"))+" is invalid")
		require.Empty(t, r.changed())
		require.Equal(t, []string{"mandatory no-a@a: a is bad"}, r.violations())
		require.Len(t, r.diagnostics(stages.Error), 1, "the violation says why; the end says that it failed")

		r = k.try(sluice.Preview, p)
		r.requireFailure("a is invalid")
		require.Equal(t, []string{"mandatory no-a@a: a is bad"}, r.violations())
		r.requireCounts(map[stages.Op]int{stages.OpCreate: 2})
	}
	k := newKit(t)
	k.policies(violating(stages.Advisory, "a"))
	require.Equal(t, []string{"advisory no-a@a: a is bad"}, k.up(p).violations())
	k.policies(violating(stages.Disabled, "a"))
	require.Empty(t, k.up(p).violations())
	k.policies(analyzer{err: errRefused})
	k.fails(p, "failed to run policy: policies: refused")
}

func TestViolationStopsAReplacementBeforeAnythingIsDeleted(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"dbr": 1})))
	k.policies(violating(stages.Mandatory, "a"))
	r := k.fails(program(one(in{"dbr": 2})), "is invalid")
	require.Empty(t, r.changed())
}

func TestViolationsOfSeveralAnalyzersComeInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		slow := func(name string, wait time.Duration) analyzer {
			return analyzer{name: name, analyze: func(r stages.Analysis) []stages.Violation {
				time.Sleep(wait)
				return []stages.Violation{{Policy: name, Level: stages.Advisory}}
			}}
		}
		k.policies(slow("first", 2*time.Second), slow("second", time.Second))
		r := k.up(program(func(s *script) { s.group("g") }))
		require.Equal(t, []string{"advisory first@g: ", "advisory second@g: "}, r.violations())
	})
}

func TestAnalyzersWorkAtOnceUpToTheLimit(t *testing.T) {
	for limit, want := range map[int]int32{0: 4, 1: 1, 3: 3} {
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t)
			var now, most atomic.Int32
			busy := analyzer{analyze: func(stages.Analysis) []stages.Violation {
				n := now.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Second)
				now.Add(-1)
				return nil
			}}
			k.policies(busy, busy, busy, busy)
			k.options.AnalyzeLimit = limit
			k.up(program(func(s *script) { s.group("g") }))
			require.Equal(t, want, most.Load())
		})
	}
}

func TestSummariesSayWhatPassed(t *testing.T) {
	k := newKit(t)
	info := []stages.PolicyInfo{
		{Name: "broken", Level: stages.Advisory, Type: stages.ResourcePolicy, Severity: "high"},
		{Name: "fixes", Level: stages.Remediate, Type: stages.ResourcePolicy},
		{Name: "kept", Level: stages.Mandatory, Type: stages.ResourcePolicy},
		{Name: "off", Level: stages.Disabled, Type: stages.ResourcePolicy},
		{Name: "old", Level: stages.Advisory},
		{Name: "other-type", Level: stages.Advisory, Type: stages.ResourcePolicy},
		{Name: "stack", Level: stages.Advisory, Type: stages.StackPolicy},
	}
	k.policies(analyzer{
		policies: info, notApplicable: []string{"other-type"},
		remediate: func(r stages.Analysis) []stages.Remediation {
			m := r.Properties.With("x", property.Bool(true))
			return []stages.Remediation{{Policy: "fixes", Properties: &m}}
		},
		analyze: func(r stages.Analysis) []stages.Violation {
			return []stages.Violation{{Policy: "broken"}, {Policy: "broken"}}
		},
		stack: func([]stages.StackResource) []stages.Violation {
			return []stages.Violation{{Policy: "stack", Severity: "low"}}
		},
	})
	r := k.up(program(func(s *script) { s.group("g") }))
	u := urn.New("dev", "p", "", "test:index:Group", "g")
	require.Equal(t, []stages.PolicySummary{
		{After: stages.AfterRemediate, URN: u, Pack: "policies", Version: "1.2.3", Passed: []string{"broken", "kept", "old", "other-type"}, Failed: []string{"fixes"}},
		{After: stages.AfterAnalyze, URN: u, Pack: "policies", Version: "1.2.3", Passed: []string{"fixes", "kept", "old"}, Failed: []string{"broken"}},
		{After: stages.AfterAnalyzeStack, Pack: "policies", Version: "1.2.3", Passed: []string{"old"}, Failed: []string{"stack"}},
	}, eventsOf[stages.PolicySummary](r))
	require.Equal(t, "high", eventsOf[stages.PolicyViolation](r)[0].Severity, "that of the policy")
	require.Equal(t, "low", eventsOf[stages.PolicyViolation](r)[2].Severity, "its own")
	require.Equal(t, info, r.summary().Policies[0].Policies)
}

func TestAnalyzersSeeOptionsAndProviders(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("old", nil) }))
	var mu sync.Mutex
	seen := map[string]stages.Analysis{}
	k.policies(analyzer{analyze: func(r stages.Analysis) []stages.Violation {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Name] = r
		return nil
	}})
	first := true
	k.up(program(func(s *script) {
		_, ref := s.provider("explicit", in{"region": "eu"})
		g := s.group("g")
		s.thing("new", in{"x": 1}, parent(g), via(ref), protect(true), ignore("y"), deleteFirst(first), secretOutputs("z"),
			alias(urn.Alias{URN: urnOf("old")}),
			func(r *stages.RegisterRequest) { r.CustomTimeouts.Create = "5m" })
	}))
	require.ElementsMatch(t, []string{"explicit", "g", "new"}, slices.Collect(maps.Keys(seen)))
	g := urn.New("dev", "p", "", "test:index:Group", "g")
	require.Equal(t, stages.AnalysisOptions{
		Protect: true, IgnoreChanges: []string{"y"}, DeleteBeforeReplace: &first, AdditionalSecretOutputs: []string{"z"},
		Aliases: []urn.URN{urnOf("old")}, Parent: g, CustomTimeouts: state.Timeouts{Create: 300},
	}, seen["new"].Options)
	require.Equal(t, "explicit", seen["new"].Provider.Name)
	require.Equal(t, urn.Type("pulumi:providers:test"), seen["new"].Provider.Type)
	require.Equal(t, "eu", seen["new"].Provider.Properties.At("region").AsString())
	require.Nil(t, seen["g"].Provider)
	require.Nil(t, seen["explicit"].Provider)
}

// judged records the resources that a stack policy has received.
type judged struct {
	calls int
	seen  []stages.StackResource
}

func (j *judged) analyzer(violations ...stages.Violation) analyzer {
	return analyzer{stack: func(rs []stages.StackResource) []stages.Violation {
		j.calls++
		j.seen = rs
		return violations
	}}
}

func (j *judged) names() []string {
	var out []string
	for _, r := range j.seen {
		if !r.Type.IsProvider() {
			out = append(out, r.Name)
		}
	}
	return out
}

func (j *judged) of(t *testing.T, name string) stages.StackResource {
	t.Helper()
	i := slices.IndexFunc(j.seen, func(r stages.StackResource) bool { return r.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return j.seen[i]
}

func TestStackPoliciesSeeOutputsAtTheEnd(t *testing.T) {
	k := newKit(t)
	var j judged
	k.policies(j.analyzer())
	p := program(func(s *script) {
		root := s.stack()
		g := s.group("g", parent(root))
		s.outputs(g, in{"out": 1})
		a := s.thing("a", in{"x": 1})
		s.thing("b", in{"password": secret("pw")}, from("of", a), deleteFirst(false))
		s.read("c", "existing")
		s.outputs(root, in{"url": "u"})
	})
	k.exists("existing", in{})
	k.preview(p)
	require.Equal(t, 1, j.calls, "a preview asks too")
	k.up(p)
	require.Equal(t, 2, j.calls)
	require.ElementsMatch(t, []string{"p-dev", "g", "a", "b"}, j.names(), "what is only read is not managed")
	require.Equal(t, "u", j.of(t, "p-dev").Properties.At("url").AsString())
	require.Equal(t, values(in{"out": 1}), j.of(t, "g").Properties)
	require.NotEmpty(t, j.of(t, "a").Properties.At("arn").AsString())
	b := j.of(t, "b")
	require.Equal(t, secret("pw"), b.Properties.At("password"))
	require.Equal(t, []urn.URN{urnOf("a")}, b.Dependencies)
	require.Equal(t, []urn.URN{urnOf("a")}, b.PropertyDependencies["of"])
	require.Equal(t, "default", b.Provider.Name)
	require.False(t, *b.Options.DeleteBeforeReplace)
	require.Less(t, slices.Index(j.names(), "a"), slices.Index(j.names(), "b"))

	k.up(program(func(s *script) { s.thing("a", in{"x": 1}) }))
	require.Equal(t, []string{"a"}, j.names(), "what was deleted is not in the stack")
}

func TestStackPoliciesByLevel(t *testing.T) {
	for level, want := range map[stages.EnforcementLevel]string{
		stages.Advisory: "advisory", stages.Mandatory: "mandatory", stages.Remediate: "mandatory", stages.Disabled: "",
	} {
		k := newKit(t)
		var j judged
		k.policies(j.analyzer(
			stages.Violation{Policy: "p", Message: "of a", Level: level, URN: urnOf("a")},
			stages.Violation{Policy: "p", Message: "of another", Level: level, URN: urnOf("elsewhere")},
			stages.Violation{Policy: "p", Message: "of none", Level: level}))
		for _, op := range []operation{sluice.Preview, sluice.Update} {
			r := k.try(op, program(one(nil)))
			switch want {
			case "":
				require.Empty(t, r.violations())
			default:
				require.Equal(t, []string{want + " p@a: of a", want + " p@p-dev: of another", want + " p@p-dev: of none"}, r.violations())
			}
			if want == "mandatory" {
				r.requireFailure("the stack violates p")
			} else {
				require.NoError(t, r.err)
			}
		}
		require.Equal(t, []string{"a"}, k.names(), "everything has been done before stack policies judge")
	}
}

func TestStackPoliciesAreNotAskedAfterAFailure(t *testing.T) {
	k := newKit(t)
	var j judged
	k.policies(j.analyzer(), violating(stages.Mandatory, "bad"))
	k.fails(program(func(s *script) { s.thing("a", nil); s.err = errRefused }), "refused")
	require.Zero(t, j.calls)
	k.fails(program(func(s *script) { s.thing("bad", nil) }), "is invalid")
	require.Zero(t, j.calls)
	r := k.try(sluice.Preview, program(func(s *script) { s.thing("bad", nil) }))
	r.requireFailure("is invalid")
	require.Equal(t, 1, j.calls, "a preview shows all violations at once")
}

func TestStackPoliciesThatFail(t *testing.T) {
	k := newKit(t)
	k.policies(brokenStack{})
	k.fails(program(one(nil)), "failed to analyze resources: policies: refused")
	require.Equal(t, []string{"a"}, k.names())
}

type brokenStack struct{ analyzer }

func (brokenStack) AnalyzeStack(context.Context, []stages.StackResource) (stages.Findings, error) {
	return stages.Findings{}, errRefused
}

func TestUntargetedResourcesAreAnalyzedAsTheyAreRecorded(t *testing.T) {
	k := newKit(t)
	declared := func(x int) source.Func {
		return program(func(s *script) {
			s.thing("a", in{"x": x})
			s.thing("b", in{"x": x})
		})
	}
	k.up(program(func(s *script) {
		s.thing("a", in{"x": 1})
		s.thing("b", in{"x": 1})
		s.thing("gone", in{"x": 1})
	}))
	var j judged
	stack := j.analyzer()
	var mu sync.Mutex
	seen := map[string]property.Map{}
	stack.analyze = func(r stages.Analysis) []stages.Violation {
		mu.Lock()
		defer mu.Unlock()
		seen[r.Name] = r.Properties
		return nil
	}
	k.policies(stack)
	targets, err := urn.CompileSet(string(urnOf("a")))
	require.NoError(t, err)
	k.options.Targeting.Targets = targets
	k.up(declared(2))
	require.Equal(t, 2.0, seen["a"].At("x").AsNumber())
	require.Equal(t, 1.0, seen["b"].At("x").AsNumber())
	require.ElementsMatch(t, []string{"a", "b", "gone"}, j.names())
	require.Equal(t, 1.0, j.of(t, "gone").Properties.At("x").AsNumber())
	require.Equal(t, "default", j.of(t, "gone").Provider.Name)
}

func TestOperationsWithoutAProgramAskNoPolicies(t *testing.T) {
	k := newKit(t)
	k.up(program(one(nil)))
	var j judged
	a := j.analyzer(stages.Violation{Policy: "p", Level: stages.Mandatory})
	a.analyze = func(stages.Analysis) []stages.Violation {
		return []stages.Violation{{Policy: "p", Level: stages.Mandatory}}
	}
	k.policies(a)
	require.NoError(t, k.try(sluice.Refresh, nil).err)
	r := k.destroy()
	require.Zero(t, j.calls)
	require.Empty(t, r.violations())
	require.Empty(t, r.summary().Policies)
}

func TestAnalyzersAreAskedToCancelOnAnInterrupt(t *testing.T) {
	k := newKit(t)
	var interrupts sluice.Interrupts
	k.options.Interrupts = &interrupts
	var canceled atomic.Int32
	k.policies(analyzer{cancel: func() { canceled.Add(1) }, analyze: func(stages.Analysis) []stages.Violation {
		interrupts.Stop()
		return nil
	}})
	r := k.try(sluice.Update, program(one(nil)))
	require.ErrorContains(t, r.err, "cancelled")
	require.EqualValues(t, 1, canceled.Load())
}

func TestAnAnalyzerThatIsGoneIsReportedOnce(t *testing.T) {
	k := newKit(t)
	k.policies(analyzer{err: &stages.AnalyzerLostError{Analyzer: "policies", Err: errors.New("policy pack policies ended")}})
	r := k.try(sluice.Update, program(func(s *script) {
		s.err = together(20, func(i int) error {
			_, err := s.m.Register(s.ctx, registration("test:index:Group", fmt.Sprint("g", i), nil, func(r *stages.RegisterRequest) { r.Custom = false }))
			return err
		})
	}))
	r.requireFailure("policy pack policies ended")
	said := 0
	for _, d := range r.diagnostics(stages.Error) {
		if d.Message == "policy pack policies ended" {
			said++
			require.Empty(t, d.URN)
		}
	}
	require.Equal(t, 1, said)
	require.Empty(t, k.names())
}

func TestARunThatFailsAtOnceKeepsTheOutputsOfTheStack(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.outputs(s.stack(), in{"url": "u"}) }))
	r := k.fails(program(func(s *script) { s.err = errRefused }), "refused")
	require.Equal(t, values(in{"url": "u"}), r.summary().Outputs)
	require.Equal(t, values(in{"url": "u"}), r.Outputs)
	require.Empty(t, k.destroy().summary().Outputs.Names())
}

func TestWhatPoliciesDoDoesNotDependOnTiming(t *testing.T) {
	outcome := func(seed uint64, workers int) (out []string) {
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t)
			k.options.Parallel = workers
			wait := func(name string) {
				r := rand.New(rand.NewPCG(seed, uint64(len(name))+uint64(name[len(name)-1])))
				time.Sleep(time.Duration(r.IntN(1000)) * time.Millisecond)
			}
			judge := func(pack string) analyzer {
				return analyzer{
					name: pack,
					remediate: func(r stages.Analysis) []stages.Remediation {
						wait(r.Name)
						m := r.Properties.With("seen", property.String(r.Properties.At("seen").AsString()+pack))
						return []stages.Remediation{{Policy: "seen", Properties: &m}}
					},
					analyze: func(r stages.Analysis) []stages.Violation {
						wait(r.Name + pack)
						if r.Name == "b3" || r.Name == "a1" {
							return []stages.Violation{{Policy: "named", Message: r.Properties.At("seen").AsString(), Level: stages.Mandatory}}
						}
						return []stages.Violation{{Policy: "all", Message: pack, Level: stages.Advisory}}
					},
					stack: func(rs []stages.StackResource) []stages.Violation {
						wait(pack)
						var names []string
						for _, r := range rs {
							names = append(names, r.Name)
						}
						return []stages.Violation{{Policy: "order", Message: fmt.Sprint(names), Level: stages.Mandatory}}
					},
				}
			}
			k.policies(judge("x"), judge("y"), judge("z"))
			r := k.try(sluice.Preview, program(func(s *script) {
				for i := range 5 {
					a := s.thing(fmt.Sprint("a", i), nil)
					s.thing(fmt.Sprint("b", i), nil, from("of", a))
				}
			}))
			out = append(r.violations(), r.err.Error())
			for _, step := range r.Steps() {
				out = append(out, fmt.Sprint(step.Op, step.URN, step.New.Inputs))
			}
		})
		return out
	}
	want := outcome(1, 1)
	require.Contains(t, want, "mandatory named@b3: xyz")
	for seed := range uint64(10) {
		for _, workers := range []int{1, 2, 64} {
			require.Equal(t, want, outcome(seed+2, workers))
		}
	}
}

// An analyzer that leaves its goroutine, as a failed assertion of a test does, has not agreed.
func TestAnAnalyzerThatDoesNotReturnRefuses(t *testing.T) {
	for name, leave := range map[string]func(){"policies: the function called runtime.Goexit": runtime.Goexit, "policies: panic: no": func() { panic("no") }} {
		k := newKit(t)
		k.policies(analyzer{
			policies: []stages.PolicyInfo{{Name: "any", Level: stages.Mandatory, Type: stages.ResourcePolicy}},
			analyze:  func(stages.Analysis) []stages.Violation { leave(); return nil },
		})
		r := k.fails(program(one(nil)), name)
		require.Empty(t, r.changed())
	}
}
