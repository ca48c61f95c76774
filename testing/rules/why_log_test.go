package rules

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/why"
	"github.com/sluice-iac/sluice/testing/simulate"
	"github.com/sluice-iac/sluice/urn"
)

// written returns the stored form of a log.
func written(t *testing.T, l *why.Log) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, l.Write(&b))
	return b.String()
}

func TestWrittenDecisionsGiveTheSameExplanations(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(*script) {
		return func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"dbr": v}))) }
	}
	k.up(program(version(1)))
	log := k.up(program(version(2))).Decisions()
	again, err := why.Read(strings.NewReader(written(t, log)))
	require.NoError(t, err)
	require.Equal(t, log.About, again.About)
	require.Equal(t, "update", log.Operation)
	require.Equal(t, log.Why(urnOf("b")), again.Why(urnOf("b")))
	require.Nil(t, again.Why(urnOf("c")))

	_, err = why.Read(strings.NewReader(`{"version":2}`))
	require.EqualError(t, err, "it has version 2, and this sluice reads version 1")
}

func TestDecisionsHoldNoSecrets(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{"p:token": {Text: "hunter2", Secret: true}, "p:pin": {Text: "1", Secret: true}}
	long := strings.Repeat("x", 195) + "hunter2" // it would be cut in the middle of the secret
	k.up(program(one(in{"marked": secret("sesame"), "unmarked": secret("sesame"), "in": in{"a": []any{secret("sesame")}}, "long": "x", "plain": "1"})))
	r := k.up(program(one(in{"marked": secret("sesame2"), "unmarked": "sesame!", "in": in{"a": []any{"sesame"}}, "long": long, "plain": "2",
		"token": "Bearer hunter2"})))
	text := written(t, r.Decisions())
	require.NotContains(t, text, "sesame")
	require.NotContains(t, text, "hunter")
	require.Contains(t, text, `"path":"plain","kind":"update","old":"1","new":"2"`)
	require.Contains(t, text, `"path":"unmarked","kind":"update","old":"[secret]","new":"[secret]"`)

	k = newKit(t)
	k.up(program(one(nil, trigger(secret("sesame")))))
	text = written(t, k.up(program(one(nil, trigger("sesame no more")))).Decisions())
	require.Contains(t, text, `"path":"replacementTrigger"`)
	require.NotContains(t, text, "sesame")
}

func TestHiddenPropertiesAreNamedAndNotShown(t *testing.T) {
	k := newKit(t)
	hide := func(r *stages.RegisterRequest) { r.HideDiffs = []string{"x"} }
	k.up(program(one(in{"x": "before"}, hide)))
	text := written(t, k.up(program(one(in{"x": "after"}, hide))).Decisions())
	require.Contains(t, text, `"path":"x"`)
	require.NotContains(t, text, "before")
	require.NotContains(t, text, "after")
}

func TestDecisionsAreBounded(t *testing.T) {
	k := newKit(t)
	version := func(v string) func(*script) {
		inputs := in{"long": strings.Repeat(v, 100_000), "list": []any{v}}
		for i := range 100 {
			inputs[fmt.Sprint("p", i)] = v
		}
		var big []any
		for range 1000 {
			big = append(big, v)
		}
		inputs["list"] = big
		return one(inputs)
	}
	k.up(program(version("ä")))
	r := k.up(program(version("ö")))
	l := r.Why(urnOf("a")).Links[0]
	require.Len(t, l.Properties, 32)
	require.Equal(t, 102-32, l.More)
	require.Less(t, len(written(t, r.Decisions())), 20_000)
	require.Equal(t, `"[1000 elements]"`, string(l.Properties[0].New))
}

func TestValuesComeFromWhatIsInAComponent(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(*script) {
		return func(s *script) {
			g := s.group("g")
			a := s.thing("a", in{"immutable": v}, parent(g))
			s.thing("b", in{"of": a.Outputs.At("arn")}, func(r *stages.RegisterRequest) {
				r.PropertyDependencies["of"], r.Dependencies = []urn.URN{g.URN}, []urn.URN{g.URN}
			})
		}
	}
	k.up(program(version(1)))
	e := k.up(program(version(2))).Why(urnOf("b"))
	require.Len(t, e.Links, 2)
	require.Equal(t, "a", e.Links[1].Name)
	require.Equal(t, why.FromResource, e.Links[0].Properties[0].Origin)
}

// Two resources have values from a component, and a resource in the component is made from each of them. Their values
// do not come from that resource, which was made later.
func TestValuesDoNotComeFromWhatIsMadeInAComponentLater(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(*script) {
		return func(s *script) {
			g := s.group("g")
			reads := func(r *stages.RegisterRequest) {
				r.PropertyDependencies["immutable"], r.Dependencies = []urn.URN{g.URN}, []urn.URN{g.URN}
			}
			first := s.thing("first", in{"immutable": v}, parent(g))
			a := s.thing("a", in{"immutable": first.Outputs.At("arn")}, reads)
			b := s.thing("b", in{"immutable": v}, reads)
			s.thing("of-a", nil, parent(g), from("of", a))
			s.thing("of-b", nil, parent(g), from("of", b))
		}
	}
	k.up(program(version(1)))
	r := k.up(program(version(2)))
	for _, name := range []string{"a", "b"} {
		l := r.Why(urnOf(name)).Links[0]
		require.Equal(t, r.Decisions().Find("first"), l.Causes)
		require.Equal(t, why.FromResource, l.Properties[0].Origin)
	}
	require.Equal(t, []urn.URN{urnOf("a")}, r.Why(r.Decisions().Find("of-a")[0]).Links[0].Causes)
	require.Empty(t, simulate.Reasons(r.Result))
}

func TestPolicyThatChangesAnInputIsNamedAsItsOrigin(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1})))
	k.options.Analyzers = []stages.Analyzer{analyzer{remediate: func(a stages.Analysis) []stages.Remediation {
		if a.Name != "a" {
			return nil
		}
		two := values(in{"x": 2})
		return []stages.Remediation{{Policy: "two", Properties: &two}}
	}}}
	l := k.up(program(one(in{"x": 1}))).Why(urnOf("a")).Links[0]
	require.Equal(t, why.FromPolicy, l.Properties[0].Origin)
	require.Equal(t, []why.Root{why.RootPolicy}, l.Roots)
}

func TestUnconfiguredProviderIsTheReasonWhileItCannotTell(t *testing.T) {
	k := newKit(t)
	version := func(v int) func(*script) {
		return func(s *script) {
			a := s.thing("a", in{"immutable": v})
			_, ref := s.provider("p", nil, from("region", a))
			s.thing("b", in{"x": 1}, via(ref))
		}
	}
	k.up(program(version(1)))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(_ context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
			if r.Name == "b" {
				return providers.DiffResponse{}, &providers.DiffUnavailableError{Reason: "cannot say"}
			}
			return providertest.Compare(r.OldInputs, r.NewInputs, nil), nil
		}
	}
	e := k.preview(program(version(2))).Why(urnOf("b"))
	require.Equal(t, "because its provider is not configured yet and cannot tell", e.Links[0].Because)
	require.Equal(t, []string{"b", "p", "a"}, []string{e.Links[0].Name, e.Links[1].Name, e.Links[2].Name})
	require.Equal(t, []why.Root{why.RootProgram}, e.Links[2].Roots)
}

func TestResourcesAreFoundByWhatPeopleCallThem(t *testing.T) {
	k := newKit(t)
	log := k.up(program(func(s *script) {
		g := s.group("web")
		s.thing("web", nil, parent(g))
		s.thing("database", nil)
	})).Decisions()
	require.Len(t, log.Find("web"), 2)
	require.Equal(t, []urn.URN{urnOf("database")}, log.Find("database"))
	require.Equal(t, []urn.URN{urnOf("database")}, log.Find(string(urnOf("database"))))
	require.Len(t, log.Find("test:index:Group::web"), 1)
	require.Empty(t, log.Find("data"))
	require.Equal(t, []urn.URN{urnOf("database")}, log.Nearest("databsae"))
	require.Equal(t, []urn.URN{urnOf("database")}, log.Nearest("data"))
	require.Empty(t, log.Nearest("something else entirely"))
}

// BenchmarkDecisions measures the cost of recording the decisions about 10,000 unchanged resources.
func BenchmarkDecisions(b *testing.B) {
	cloud := providertest.NewCloud(providertest.Options{})
	o := sluice.Options{Stack: "dev", Project: "p", Providers: cloud.Host(), State: &sluice.MemoryState{},
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
			return together(10_000, func(i int) error {
				_, err := m.Register(ctx, registration("test:index:Thing", fmt.Sprint("thing-", i), in{"x": i}))
				return err
			})
		})}
	_, err := sluice.Update(b.Context(), o)
	require.NoError(b, err)
	r, err := sluice.Update(b.Context(), o)
	require.NoError(b, err)
	for b.Loop() {
		var out bytes.Buffer
		require.NoError(b, r.Decisions().Write(&out))
		b.ReportMetric(float64(out.Len()), "bytes")
	}
}

// Most programs report only the place of a declaration: a value comes from a setting if it changed like the setting.
func TestValuesThatChangeAsSettingsDoComeFromThem(t *testing.T) {
	settings := []why.ChangedSetting{
		{Key: "p:region", Old: "eu", New: "us", Position: "Pulumi.dev.yaml:3"}, {Key: "p:size", Old: "1", New: "2"}, {Key: "p:token", Secret: true},
		{Key: "p:former", Old: "former"}, {Key: "p:pin", New: "new"}, {Key: "p:flag", Old: "false", New: "true"},
	}
	for name, test := range map[string]struct {
		was, is any
		want    string
	}{
		"a text":                  {"eu", "us", "p:region"},
		"a number":                {1, 2, "p:size"},
		"a truth value":           {false, true, "p:flag"},
		"another value before":    {"asia", "us", ""},
		"another value now":       {"eu", "asia", ""},
		"the other way":           {"us", "eu", ""},
		"a new setting":           {"the default of the program", "new", "p:pin"},
		"a setting that is gone":  {"former", "the default of the program", "p:former"},
		"not the new setting":     {"the default of the program", "newer", ""},
		"within a text":           {"x-eu", "x-us", ""},
		"a secret setting":        {"a", "b", ""},
		"a secret with that text": {secret("eu"), secret("us"), "p:region"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": test.was})))
			asked := 0
			since := func(r *ran) why.Change {
				l := r.DecisionsSince(func() []why.ChangedSetting { asked++; return settings })
				return l.Why(urnOf("a")).Links[0].Properties[0]
			}
			c := since(k.preview(program(one(in{"x": test.is}))))
			require.Equal(t, 1, asked)
			if test.want == "" {
				require.Equal(t, why.FromProgram, c.Origin)
				require.Nil(t, c.Setting)
				return
			}
			require.Equal(t, why.FromConfiguration, c.Origin)
			require.Equal(t, test.want, c.Setting.Key)
		})
	}
}

func TestValuesOfSettingsAreHiddenLikeTheirProperties(t *testing.T) {
	k := newKit(t)
	hide := func(r *stages.RegisterRequest) { r.HideDiffs = []string{"x"} }
	k.up(program(one(in{"x": "before"}, hide)))
	l := k.preview(program(one(in{"x": "after"}, hide))).DecisionsSince(func() []why.ChangedSetting {
		return []why.ChangedSetting{{Key: "p:x", Old: "before", New: "after"}}
	})
	text := written(t, l)
	require.Contains(t, text, `"key":"p:x"`)
	require.NotContains(t, text, "before")
	require.NotContains(t, text, "after")
}

// Settings are not read if nothing depends on them.
func TestSettingsAreAskedForOnlyIfAValueChanged(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1})))
	r := k.preview(program(one(in{"x": 1})))
	r.DecisionsSince(func() []why.ChangedSetting { panic("nothing changed") })
}

func TestReasonsNameWhatDiffersWhereTheProviderDoesNot(t *testing.T) {
	for name, test := range map[string]struct {
		now    in
		answer providers.DiffResponse
		want   string
	}{
		"nothing differs": {in{"x": 1, "y": 1}, providers.DiffResponse{Changes: providers.DiffSome},
			"because its provider reports a change without naming a property"},
		"something differs":                  {in{"x": 2, "y": 1}, providers.DiffResponse{Changes: providers.DiffSome}, "because `x` changed"},
		"something that only SDKs know, too": {in{"x": 2, "y": 1, "__defaults": []any{"y"}}, providers.DiffResponse{Changes: providers.DiffSome}, "because `x` changed"},
		"the provider names one":             {in{"x": 2, "y": 2}, providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: []string{"y"}}, "because `y` changed"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(in{"x": 1, "y": 1})))
			k.fake = func(f *providertest.Fake) {
				f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) { return test.answer, nil }
			}
			r := k.preview(program(one(test.now)))
			require.Equal(t, test.want, r.Why(urnOf("a")).Links[0].Because)
		})
	}
}
