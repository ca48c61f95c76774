package rules

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Ephemeral values (decision 0282).

// recordedTexts is a [state.Store] that keeps a text of everything that is recorded.
type recordedTexts struct {
	state.Store

	mu    sync.Mutex // guards texts
	texts strings.Builder
}

func (r *recordedTexts) Record(ctx context.Context, base *state.Snapshot) (state.Recorder, error) {
	inner, err := r.Store.Record(ctx, base)
	return &textsRecorder{inner, r}, err
}

func (r *recordedTexts) add(all ...*state.Resource) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, res := range all {
		if res != nil {
			fmt.Fprintln(&r.texts, res.URN, res.Inputs.StripSecrets(), res.Outputs.StripSecrets())
		}
	}
}

type textsRecorder struct {
	state.Recorder
	to *recordedTexts
}

func (r *textsRecorder) Begin(ctx context.Context, op state.Pending) error {
	r.to.add(op.Resource)
	return r.Recorder.Begin(ctx, op)
}

func (r *textsRecorder) End(ctx context.Context, c state.Change) error {
	r.to.add(c.Begun, c.Add)
	r.to.add(c.Remove...)
	for _, p := range c.Replace {
		r.to.add(p.New)
	}
	return r.Recorder.End(ctx, c)
}

func (r *textsRecorder) Rebase(ctx context.Context, base *state.Snapshot) error {
	r.to.add(base.Resources...)
	return r.Recorder.Rebase(ctx, base)
}

// ephemeral makes a kit with ephemeral properties, and returns what it records.
func ephemeral(t *testing.T, names ...string) (*kit, *recordedTexts) {
	k := newKit(t)
	k.options.Config = sluice.Config{sluice.EphemeralKey: {Text: `["` + strings.Join(names, `","`) + `"]`}}
	store := &recordedTexts{Store: k.state}
	k.options.State = store
	return k, store
}

// generating makes the provider return an output of its own when it creates or updates.
func generating(k *kit, made string) {
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			answer, err := f.Base.Create(ctx, r)
			if !r.Preview {
				answer.Properties = answer.Properties.With("made", property.String(made))
			}
			return answer, err
		}
	}
}

func TestAnEphemeralInputReachesTheProviderAndNoRecord(t *testing.T) {
	for name, entry := range map[string]string{"a type": "test:index:Thing#password", "a pattern": "test:*#password"} {
		t.Run(name, func(t *testing.T) {
			k, records := ephemeral(t, entry)
			with := func(size int, password string) func(*script) {
				return func(s *script) {
					s.thing("before", nil)
					a := s.thing("a", in{"size": size, "password": password})
					require.Equal(t, property.Secret(property.String(password)), a.Outputs.At("password"), "the program gets its own value")
				}
			}
			r := k.up(program(with(1, "hunter2hunter2")))
			require.Equal(t, "hunter2hunter2", askedOnce[providers.CreateRequest](r, "a").Properties.At("password").StripSecrets().AsString())
			require.Equal(t, property.Secret(property.String("hunter2hunter2")), r.step(stages.OpCreate, "a").New.Inputs.At("password"), "no display shows it")
			require.Equal(t, in{"size": 1.0}, in{"size": k.recorded("a").Inputs.At("size").AsNumber()})

			r = k.preview(program(with(1, "another one")))
			require.ElementsMatch(t, []string{"same before", "same a"}, userSteps(r))
			r = k.up(program(with(1, "another one")))
			require.Empty(t, r.changed(), "a change of the value alone is not seen")
			r = k.try(sluice.Refresh, nil)
			require.NoError(t, r.err)
			require.Empty(t, r.changed())
			require.ElementsMatch(t, []string{"refresh before", "refresh a"}, userSteps(r))

			r = k.up(program(with(2, "the third one")))
			update := askedOnce[providers.UpdateRequest](r, "a")
			require.Equal(t, "the third one", update.NewInputs.At("password").StripSecrets().AsString())
			require.True(t, update.OldInputs.At("password").IsNull(), "the provider sets it again")

			k.destroy()
			for _, text := range []string{"hunter2", "another", "third", "password"} {
				require.NotContains(t, records.texts.String(), text)
			}
		})
	}
}

// A value that is recorded already leaves the record with the first operation that records, even if that does nothing with its resource.
func TestAValueThatBecomesEphemeralLeavesTheRecord(t *testing.T) {
	for name, test := range map[string]struct {
		op     operation
		target stages.Targeting
	}{
		"update":             {op: sluice.Update},
		"refresh":            {op: sluice.Refresh},
		"update of another":  {op: sluice.Update, target: stages.Targeting{Targets: set(t, string(urnOf("b")))}},
		"destroy of another": {op: sluice.Destroy, target: stages.Targeting{Targets: set(t, string(urnOf("b")))}},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			p := program(func(s *script) {
				s.thing("a", in{"size": 1, "password": "hunter2hunter2"})
				s.thing("b", nil)
			})
			k.up(p)
			require.False(t, k.recorded("a").Inputs.At("password").IsNull())
			k.options.Config = sluice.Config{sluice.EphemeralKey: {Text: `["test:index:Thing#password"]`}}
			k.options.Targeting = test.target
			r := k.try(test.op, p)
			require.NoError(t, r.err)
			require.True(t, k.recorded("a").Inputs.At("password").IsNull())
			require.True(t, k.recorded("a").Outputs.At("password").IsNull())
			require.Equal(t, 1.0, k.recorded("a").Inputs.At("size").AsNumber())
		})
	}
}

// An output that only the provider knows is there in the update that makes it. Later the program has no value for it, but what got it stays as it is.
func TestAnEphemeralOutputIsThereOnlyOnce(t *testing.T) {
	k, records := ephemeral(t, "test:index:Thing#made", "test:index:Thing#password")
	generating(k, "sesame sesame")
	with := func(size int) func(*script) {
		return func(s *script) {
			a := s.thing("a", nil)
			s.thing("b", in{"size": size, "password": a.Outputs.At("made")})
		}
	}
	r := k.up(program(with(1)))
	require.Equal(t, "sesame sesame", askedOnce[providers.CreateRequest](r, "b").Properties.At("password").StripSecrets().AsString())
	require.Empty(t, k.up(program(with(1))).changed())
	r = k.preview(program(with(2)))
	require.ElementsMatch(t, []string{"same a", "update b"}, userSteps(r))
	r = k.fails(program(with(2)), `the input "password" is not available: the property "made" of `+string(urnOf("a"))+` is ephemeral`)
	require.Empty(t, asked[providers.UpdateRequest](r, "b"))
	require.Equal(t, 1.0, k.recorded("b").Inputs.At("size").AsNumber())
	require.NotContains(t, records.texts.String(), "sesame")
	require.NotContains(t, records.texts.String(), "not available")
}

// A value that another property would record is refused, wherever it is.
func TestAnEphemeralValueIsNotRecordedElsewhere(t *testing.T) {
	for name, pass := range map[string]func(s *script, v property.Value){
		"as an input": func(s *script, v property.Value) { s.thing("b", in{"x": v}) },
		"in a text":   func(s *script, v property.Value) { s.thing("b", in{"x": "login:" + v.StripSecrets().AsString()}) },
		"in a list":   func(s *script, v property.Value) { s.thing("b", in{"x": property.Of(property.ArrayOf(v).AsArray())}) },
		"in a read": func(s *script, v property.Value) {
			s.read("b", "id", func(r *stages.ReadRequest) { r.Properties = values(in{"x": v}) })
		},
		"in a group":       func(s *script, v property.Value) { s.register("test:index:Group", "b", in{"x": v}) },
		"in stack outputs": func(s *script, v property.Value) { s.outputs(s.stack(), in{"x": v}) },
	} {
		t.Run(name, func(t *testing.T) {
			k, records := ephemeral(t, "test:index:Thing#made")
			generating(k, "sesame sesame")
			r := k.fails(program(func(s *script) {
				a := s.thing("a", nil)
				pass(s, a.Outputs.At("made"))
			}), `has the value of the property "made" of `+string(urnOf("a"))+`, which is ephemeral`)
			var leak *stages.EphemeralError
			require.ErrorAs(t, r.err, &leak)
			require.Equal(t, urnOf("a"), leak.From)
			require.NotContains(t, records.texts.String(), "sesame")
		})
	}
}

func TestAResourceThatIsReadHasItsEphemeralValue(t *testing.T) {
	k, records := ephemeral(t, "test:index:Thing#password")
	k.exists("x", in{"password": "hunter2hunter2"})
	for range 2 {
		k.up(program(func(s *script) {
			r := s.read("a", "x")
			require.Equal(t, property.Secret(property.String("hunter2hunter2")), r.Outputs.At("password"))
		}))
	}
	require.NotContains(t, records.texts.String(), "hunter2")
}

// A misspelt name would leave a value in the state.
func TestANameWithoutAPropertyIsAWarning(t *testing.T) {
	for entry, says := range map[string]string{
		"test:index:Thing#password":  "",
		"test:Thing#password":        "",
		"test:*#made":                "",
		"test:index:Group#out":       "",
		"test:index:Things#password": "but the program has no resource of such a type",
		"test:index:Thing#pasword":   "but no resource of the type has such an input or output",
		"test:index:Group#other":     "but no resource of the type has such an input or output",
	} {
		t.Run(entry, func(t *testing.T) {
			k, _ := ephemeral(t, entry)
			generating(k, "sesame sesame")
			r := k.up(program(func(s *script) {
				s.thing("a", in{"password": "hunter2hunter2"})
				s.thing("b", nil)
				s.outputs(s.group("g"), in{"out": "x"})
			}))
			var warnings []string
			for _, d := range r.diagnostics(stages.Warning) {
				warnings = append(warnings, d.Message)
			}
			if says == "" {
				require.Empty(t, warnings)
			} else {
				require.Equal(t, []string{fmt.Sprintf("sluice:ephemeral names %q, %s", entry, says)}, warnings)
			}
		})
	}
}

func TestMistakesInTheListOfEphemeralProperties(t *testing.T) {
	for text, says := range map[string]string{
		`"a#b"`:                           `config sluice:ephemeral: it must be a list of texts "type#property"`,
		`["a"]`:                           `entry 1 ("a"): it has not the form "type#property"`,
		`["a:b:C#x", "a:b:C#"]`:           `entry 2 ("a:b:C#"): it has not the form`,
		`["a:b:C#x["]`:                    `entry 1 ("a:b:C#x["): `,
		`["a:{b}#x"]`:                     `"a:{b}" is not a name or a pattern; the only character that stands for others is *`,
		`["pulumi:providers:aws#secret"]`: `the settings of providers and the outputs of stacks must be recorded`,
	} {
		k := newKit(t)
		k.options.Config = sluice.Config{sluice.EphemeralKey: {Text: text}}
		r := k.try(sluice.Update, nothing)
		var wrong *sluice.SettingError
		require.ErrorAs(t, r.err, &wrong)
		require.ErrorContains(t, r.err, says)
	}
}
