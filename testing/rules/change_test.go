package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestNewResourceIsCheckedAndCreated(t *testing.T) {
	k := newKit(t)
	var reply *stages.RegisterReply
	p := program(func(s *script) { reply = s.thing("a", in{"size": 1, "secret": secret("x")}) })

	r := k.preview(p)
	require.Equal(t, []string{"check a", "create a"}, r.did())
	create := askedOnce[providers.CreateRequest](r, "a")
	require.True(t, create.Preview)
	require.True(t, askedOnce[providers.CheckRequest](r, "a").AllowUnknowns)
	require.Empty(t, reply.ID)
	require.True(t, reply.Outputs.At("arn").IsUnknown())
	require.Nil(t, k.state.Snapshot())

	r = k.up(p)
	require.Equal(t, []string{"check a", "create a"}, r.did())
	check := askedOnce[providers.CheckRequest](r, "a")
	require.Zero(t, check.Olds.Len())
	require.False(t, check.AllowUnknowns)
	require.Len(t, check.RandomSeed, 32)
	create = askedOnce[providers.CreateRequest](r, "a")
	require.Equal(t, urnOf("a"), create.URN)
	require.Equal(t, urn.Type("test:index:Thing"), create.Type)
	require.False(t, create.Preview)
	require.Equal(t, idOf("a", 1), reply.ID)
	require.Equal(t, urnOf("a"), reply.URN)
	require.Equal(t, "arn:"+idOf("a", 1), reply.Outputs.At("arn").AsString())
	require.Equal(t, stages.Success, reply.Result)
	r.requireCounts(map[stages.Op]int{stages.OpCreate: 1})
	a := k.recorded("a")
	require.True(t, property.EqualMaps(values(in{"size": 1, "secret": secret("x")}), a.Inputs))
	require.Equal(t, reply.ID, a.ID)
	require.Contains(t, a.Provider, "pulumi:providers:test::default::")
}

func TestUnchangedResourceIsComparedOnly(t *testing.T) {
	k := newKit(t)
	var reply *stages.RegisterReply
	p := program(func(s *script) { reply = s.thing("a", in{"size": 1}) })
	k.up(p)
	first := *reply
	r := k.up(p)
	require.Equal(t, []string{"check a", "diff a"}, r.did())
	require.Equal(t, first, *reply)
	diff := askedOnce[providers.DiffRequest](r, "a")
	require.Equal(t, reply.ID, diff.ID)
	require.True(t, property.EqualMaps(reply.Outputs, diff.OldOutputs))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
}

func TestChangedResourceIsUpdatedInPlace(t *testing.T) {
	k := newKit(t)
	var reply *stages.RegisterReply
	version := func(size int) func(s *script) {
		return func(s *script) { reply = s.thing("a", in{"size": size}) }
	}
	k.up(program(version(1)))

	r := k.preview(program(version(2)))
	require.Equal(t, idOf("a", 1), reply.ID)
	require.True(t, askedOnce[providers.UpdateRequest](r, "a").Preview)

	r = k.up(program(version(2)))
	require.Equal(t, []string{"check a", "diff a", "update a"}, r.did())
	update := askedOnce[providers.UpdateRequest](r, "a")
	require.Equal(t, idOf("a", 1), update.ID)
	require.Equal(t, 1.0, update.OldInputs.At("size").AsNumber())
	require.Equal(t, 1.0, update.OldOutputs.At("size").AsNumber())
	require.Equal(t, 2.0, update.NewInputs.At("size").AsNumber())
	require.Equal(t, 2.0, reply.Outputs.At("size").AsNumber())
	require.Equal(t, []string{"size"}, r.step(stages.OpUpdate, "a").Diffs)
	require.Equal(t, "because `size` changed", r.step(stages.OpUpdate, "a").Reason.String())
	require.Equal(t, 2.0, k.recorded("a").Inputs.At("size").AsNumber())
}

func TestEngineComparesWhatTheProviderCannot(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, nil
		}
	}
	k.up(program(one(in{"size": 1, "list": []any{1, 2}, "s": "x"})))

	r := k.up(program(one(in{"size": 1, "list": []any{1, 2}, "s": secret("x")})))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})

	r = k.up(program(one(in{"list": []any{1, 3}, "more": true, "s": "x"})))
	r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
	require.Equal(t, map[string]providers.PropertyDiff{
		"size":    {Kind: providers.DiffDelete, InputDiff: true},
		"list[1]": {Kind: providers.DiffUpdate, InputDiff: true},
		"more":    {Kind: providers.DiffAdd, InputDiff: true},
	}, r.step(stages.OpUpdate, "a").DetailedDiff)
}

func TestReplaceKeysOfAnUnknownDiffCount(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{ReplaceKeys: []string{"size"}}, nil
		}
	}
	k.up(program(one(in{"size": 1})))
	k.up(program(one(in{"size": 1}))).requireCounts(map[stages.Op]int{stages.OpSame: 1})
	k.up(program(one(in{"size": 2}))).requireCounts(map[stages.Op]int{stages.OpReplace: 1})
}

func TestUnavailableDiffIsAWarningAndAnUpdate(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, &providers.DiffUnavailableError{Reason: "cannot say"}
		}
	}
	r := k.up(program(one(in{"size": 1})))
	r.requireDiagnostic(stages.Warning, 0, "cannot say")
	require.Equal(t, []string{"update a"}, r.changed())
}

func TestFailingDiffStopsTheUpdate(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, errRefused
		}
	}
	r := k.fails(program(one(in{"size": 2})), "refused")
	require.Empty(t, r.changed())

	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{Changes: 7}, nil
		}
	}
	k.fails(program(one(in{"size": 2})), "unrecognized diff state for "+string(urnOf("a"))+": 7")
}

func TestIgnoredPropertiesKeepTheirOldValues(t *testing.T) {
	base := in{
		"size": 1, "tags": in{"a": 1, "b": 2}, "list": []any{1, 2, 3}, "deep": in{"x": []any{in{"y": 1, "z": 1}}},
	}
	changed := in{
		"size": 2, "tags": in{"a": 8, "b": 9}, "list": []any{7, 8, 9}, "deep": in{"x": []any{in{"y": 5, "z": 5}}},
	}
	with := func(name string, v any) in {
		out := in{}
		for k, x := range changed {
			out[k] = x
		}
		out[name] = v
		return out
	}
	tests := map[string]struct {
		path string
		want in
	}{
		"scalar":        {"size", with("size", 1)},
		"nested":        {"tags.b", with("tags", in{"a": 8, "b": 2})},
		"quoted":        {`tags["a"]`, with("tags", in{"a": 1, "b": 9})},
		"array element": {"list[1]", with("list", []any{7, 2, 9})},
		"wildcard":      {"list[*]", with("list", []any{1, 2, 3})},
		"everything":    {"*", base},
		"deep wildcard": {"deep.x[*].y", with("deep", in{"x": []any{in{"y": 1, "z": 5}}})},
		"unparsable":    {"size[", changed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			r := k.up(program(one(base, ignore(test.path))))
			require.True(t, property.EqualMaps(values(base), askedOnce[providers.CheckRequest](r, "a").News), "not on create")
			r = k.up(program(one(changed, ignore(test.path))))
			want := values(test.want)
			require.True(t, property.EqualMaps(want, askedOnce[providers.CheckRequest](r, "a").News))
			diff := askedOnce[providers.DiffRequest](r, "a")
			require.True(t, property.EqualMaps(want, diff.NewInputs))
			require.Equal(t, []string{test.path}, diff.IgnoreChanges)
			if name == "everything" {
				require.Empty(t, r.changed())
				return
			}
			update := askedOnce[providers.UpdateRequest](r, "a")
			require.True(t, property.EqualMaps(want, update.NewInputs))
			require.Equal(t, []string{test.path}, update.IgnoreChanges)
			require.Equal(t, []string{test.path}, k.recorded("a").IgnoreChanges)
		})
	}
}

func TestPathsThatCannotBeIgnoredAreReportedOnce(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1, "qux": []any{1}})))
	r := k.up(program(one(in{"qux": []any{1, 2}}, inputOf("x", nil), ignore("x", "qux[1]")))) // x is unknown, and ignored
	require.Len(t, r.diagnostics(stages.Info), 1)
}

func TestIgnoredPathMissingOnOneSideKeepsTheProgramsValue(t *testing.T) {
	tests := map[string]struct {
		old, new in
		path     string
	}{
		"parent gone":   {in{"foo": in{"bar": 1}}, in{}, "foo.bar"},
		"element gone":  {in{"qux": []any{1}}, in{"qux": []any{}}, "qux[0]"},
		"element added": {in{"qux": []any{1}}, in{"qux": []any{1, 2}}, "qux[1]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.up(program(one(test.old)))
			r := k.up(program(one(test.new, ignore(test.path))))
			r.requireDiagnostic(stages.Info, 0, "cannot ignore changes in added or removed elements of the path: \""+test.path+"\"")
			require.True(t, property.EqualMaps(values(test.new), k.recorded("a").Inputs))
		})
	}
}

func TestIgnoredSecretStaysSecret(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"box": secret(in{"x": 1})})))
	r := k.up(program(one(in{"box": in{"x": 2}}, ignore("box.x"))))
	news := askedOnce[providers.CheckRequest](r, "a").News
	require.True(t, news.HasSecrets())
}

func TestReplaceOnChangesTurnsUpdatesIntoReplacements(t *testing.T) {
	old := in{"a": in{"b": []any{1, 2}}, "size": 1}
	tests := map[string]struct {
		path     string
		new      in
		replaces bool
	}{
		"named":                 {"size", in{"a": old["a"], "size": 2}, true},
		"prefix":                {"a", in{"a": in{"b": []any{3, 2}}, "size": 1}, true},
		"element":               {"a.b[0]", in{"a": in{"b": []any{3, 2}}, "size": 1}, true},
		"other element":         {"a.b[1]", in{"a": in{"b": []any{3, 2}}, "size": 1}, false},
		"wildcard for an index": {"a.b[*]", in{"a": in{"b": []any{3, 2}}, "size": 1}, true},
		"everything":            {"*", in{"a": old["a"], "size": 2}, true},
		"another property":      {"a", in{"a": old["a"], "size": 2}, false},
		"no change":             {"*", old, false},
	}
	diffs := map[string]func(context.Context, providers.DiffRequest) (providers.DiffResponse, error){
		"detailed": func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, nil
		},
		"keys only": func(_ context.Context, r providers.DiffRequest) (providers.DiffResponse, error) {
			d := property.Diff(r.OldInputs, r.NewInputs, nil)
			if d.IsEmpty() {
				return providers.DiffResponse{Changes: providers.DiffNone}, nil
			}
			return providers.DiffResponse{Changes: providers.DiffSome, ChangedKeys: d.ChangedKeys()}, nil
		},
	}
	for form, diff := range diffs {
		for name, test := range tests {
			if form == "keys only" && (test.path == "a.b[0]" || test.path == "a.b[*]") {
				continue // these contain no changed key "a"
			}
			t.Run(form+" "+name, func(t *testing.T) {
				k := newKit(t)
				k.fake = func(f *providertest.Fake) { f.OnDiff = diff }
				k.up(program(one(old)))
				r := k.up(program(one(test.new, replaceOn(test.path))))
				require.Equal(t, test.replaces, r.Changes[stages.OpReplace] == 1, "%v", r.Changes)
				require.Equal(t, []string{test.path}, k.recorded("a").ReplaceOnChanges)
			})
		}
	}
}

func TestUnparsableReplaceOnChangesIsAnError(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	r := k.fails(program(one(in{"size": 2}, replaceOn("size["))), "replaceOnChanges")
	require.Empty(t, r.changed())
}

func TestCheckGetsWhatTheLastCheckReturned(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(_ context.Context, r providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Inputs: r.News.With("default", property.String("d"))}, nil
		}
	}
	k.up(program(one(in{"size": 1})))
	r := k.up(program(one(in{"size": 2})))
	require.True(t, property.EqualMaps(values(in{"size": 1, "default": "d"}), askedOnce[providers.CheckRequest](r, "a").Olds))
	require.Equal(t, "d", askedOnce[providers.UpdateRequest](r, "a").NewInputs.At("default").AsString())
}

func TestRefusedInputsStopTheUpdate(t *testing.T) {
	k := newKit(t)
	var err error
	p := program(func(s *script) {
		_, err = s.m.Register(s.ctx, registration("test:index:Thing", "a", in{"invalidName": "x"}))
		s.err = err
	})
	r := k.fails(p, "this property is never valid")
	r.requireDiagnostic(stages.Error, 2003, "test:index:Thing resource 'a': property invalidName value {x} has a problem: this property is never valid")
	require.ErrorIs(t, err, stages.ErrShutDown)
	require.Empty(t, r.changed())

	k.fake = func(f *providertest.Fake) {
		f.OnCheck = func(context.Context, providers.CheckRequest) (providers.CheckResponse, error) {
			return providers.CheckResponse{Failures: []providers.CheckFailure{{Reason: "not today"}, {Property: "s", Reason: "hush"}}}, nil
		}
	}
	r = k.fails(program(one(in{"s": secret("sesame")})), "not today")
	r.requireDiagnostic(stages.Error, 2002, "test:index:Thing resource 'a' has a problem: not today")
	r.requireDiagnostic(stages.Error, 2003, "property s value {[secret]} has a problem: hush")
}

func TestUnhealthyCreateIsRecordedAndUpdatedUntilItIsHealthy(t *testing.T) {
	k := newKit(t)
	r := k.fails(program(one(in{"unhealthy": true})), "a is unhealthy")
	require.Equal(t, []string{"a is unhealthy"}, k.recorded("a").InitErrors)
	require.Equal(t, idOf("a", 1), k.recorded("a").ID)
	require.Equal(t, "arn:"+idOf("a", 1), k.recorded("a").Outputs.At("arn").AsString())
	require.True(t, k.recorded("a").Inputs.At("unhealthy").AsBool())
	require.Equal(t, 1, lastFailure(r).Status)

	// Nothing differs, and all changes are ignored: it is still an update.
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{Changes: providers.DiffNone}, nil
		}
		f.OnUpdate = func(_ context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
			return providers.UpdateResponse{Properties: r.NewInputs}, nil
		}
	}
	r = k.up(program(one(in{"unhealthy": true}, ignore("*"))))
	r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
	require.Equal(t, "because it was not healthy after the last update", r.step(stages.OpUpdate, "a").Reason.String())
	require.Empty(t, k.recorded("a").InitErrors)
	k.up(program(one(in{"unhealthy": true}))).requireCounts(map[stages.Op]int{stages.OpSame: 1})
}

func TestAnObjectThatIsNotHealthyForNoReasonIsUpdated(t *testing.T) {
	slow := errors.New("the cloud is slow")
	for name, c := range map[string]struct {
		method providers.Method
		err    error
		reason string
	}{
		"a create, with an error":    {providers.MethodCreate, slow, "the cloud is slow"},
		"a create, without an error": {providers.MethodCreate, nil, "the provider gives no reason"},
		"an update":                  {providers.MethodUpdate, slow, "the cloud is slow"},
		"a read":                     {providers.MethodRead, slow, "the cloud is slow"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			unhealthy := &providers.InitError{ID: idOf("a", 1), Properties: values(in{"size": 2}), Err: c.err}
			op, size := sluice.Update, 2
			if c.method != providers.MethodCreate {
				k.up(program(one(in{"size": 1})))
			}
			if c.method == providers.MethodRead {
				op, size = sluice.Refresh, 1
			}
			k.fake = func(f *providertest.Fake) {
				switch c.method {
				case providers.MethodCreate:
					f.OnCreate = func(context.Context, providers.CreateRequest) (providers.CreateResponse, error) {
						return providers.CreateResponse{}, unhealthy
					}
				case providers.MethodUpdate:
					f.OnUpdate = func(context.Context, providers.UpdateRequest) (providers.UpdateResponse, error) {
						return providers.UpdateResponse{}, unhealthy
					}
				default:
					f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
						return providers.ReadResponse{}, unhealthy
					}
				}
			}
			k.try(op, program(one(in{"size": size})))
			require.Len(t, k.recorded("a").InitErrors, 1)
			require.Contains(t, k.recorded("a").InitErrors[0], c.reason)
			k.fake = func(f *providertest.Fake) {
				f.OnUpdate = func(_ context.Context, r providers.UpdateRequest) (providers.UpdateResponse, error) {
					return providers.UpdateResponse{Properties: r.NewInputs}, nil
				}
			}
			r := k.try(sluice.Update, program(one(in{"size": size})))
			require.NoError(t, r.err)
			r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
			require.Empty(t, k.recorded("a").InitErrors)
		})
	}
}

// A provider's inputs of an unhealthy object count in a refresh only: the next update compares with the inputs that the program has declared.
func TestUnhealthyCreateIsRecordedWithTheInputsOfTheProgram(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			res, err := f.Base.Create(ctx, r)
			if err == nil {
				err = &providers.InitError{
					ID: res.ID, Properties: res.Properties, Inputs: values(in{"size": 7}), HasInputs: true, Reasons: []string{"not ready"},
				}
			}
			return res, err
		}
	}
	k.fails(program(one(in{"size": 1})), "not ready")
	require.Equal(t, values(in{"size": 1}), k.recorded("a").Inputs)
}

func lastFailure(r *ran) stages.StepFailed {
	r.t.Helper()
	var last *stages.StepFailed
	for _, e := range r.events {
		if f, ok := e.(stages.StepFailed); ok {
			last = &f
		}
	}
	require.NotNil(r.t, last)
	return *last
}

func TestUnhealthyUpdateKeepsTheOldInputs(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"size": 1})))
	k.fails(program(one(in{"size": 2, "unhealthy": true})), "a is unhealthy")
	a := k.recorded("a")
	require.True(t, property.EqualMaps(values(in{"size": 1}), a.Inputs))
	require.Equal(t, 2.0, a.Outputs.At("size").AsNumber())
	require.Equal(t, []string{"a is unhealthy"}, a.InitErrors)
	r := k.up(program(one(in{"size": 2})))
	require.Equal(t, []string{"update a"}, r.changed())
	require.Empty(t, k.recorded("a").InitErrors)
}

func TestUnhealthyResourceIsReplacedIfReplaceOnChangesSaysSo(t *testing.T) {
	for _, path := range []string{"*", "#initerror"} {
		t.Run(path, func(t *testing.T) {
			k := newKit(t)
			k.fails(program(one(in{"unhealthy": true})), "a is unhealthy")
			k.fake = func(f *providertest.Fake) {
				f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
					return providers.DiffResponse{Changes: providers.DiffNone}, nil
				}
			}
			r := k.try(sluice.Update, program(one(in{"unhealthy": true}, replaceOn(path))))
			require.Contains(t, r.steps(), "create-replacement a")
			require.Equal(t, []string{"#initerror"}, lastFailure(r).Step.Keys)
		})
	}
}

func TestOutputsThatMustBeSecretAre(t *testing.T) {
	k := newKit(t)
	var reply *stages.RegisterReply
	p := program(func(s *script) {
		reply = s.thing("a", in{"password": secret("x"), "plain": "y"}, secretOutputs("arn", "id", "missing"))
	})
	// The provider returns no secrets.
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			r.Properties = r.Properties.StripSecrets()
			return f.Base.Create(ctx, r)
		}
	}
	r := k.up(p)
	for _, outputs := range []property.Map{reply.Outputs, k.recorded("a").Outputs} {
		require.True(t, outputs.At("password").IsSecret())
		require.True(t, outputs.At("arn").IsSecret())
		require.False(t, outputs.At("plain").IsSecret())
		require.False(t, outputs.At("missing").IsSecret())
	}
	r.requireDiagnostic(stages.Warning, 0, "The 'id' property cannot be made secret")
	require.Equal(t, []string{"arn", "id", "missing"}, k.recorded("a").AdditionalSecretOutputs)

	r = k.up(p)
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
	require.True(t, reply.Outputs.At("arn").IsSecret())
}

func TestTimeoutsReachTheProviderInSeconds(t *testing.T) {
	k := newKit(t)
	timeouts := func(create, update, del string) option {
		return func(r *stages.RegisterRequest) {
			r.CustomTimeouts = stages.CustomTimeouts{Create: create, Update: update, Delete: del}
		}
	}
	r := k.up(program(one(in{"size": 1}, timeouts("5m", "90s", "1h"))))
	require.Equal(t, 300.0, askedOnce[providers.CreateRequest](r, "a").Timeout)
	r = k.up(program(one(in{"size": 2}, timeouts("1s", "2s", "3s"))))
	require.Equal(t, 2.0, askedOnce[providers.UpdateRequest](r, "a").Timeout)
	require.Equal(t, 3.0, k.recorded("a").CustomTimeouts.Value().Delete)
	// The delete of a replacement uses the options in the state.
	r = k.up(program(one(in{"size": 2, "immutable": 1}, timeouts("1s", "2s", "9s"))))
	require.Equal(t, 3.0, askedOnce[providers.DeleteRequest](r, "a").Timeout)
	r = k.up(program(func(*script) {}))
	require.Equal(t, 9.0, askedOnce[providers.DeleteRequest](r, "a").Timeout)
}

func TestTimestampsMoveWithChanges(t *testing.T) {
	k := newKit(t)
	c := &clock{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	k.options.Now = c.Now
	first := c.now
	p := func(size int) func(s *script) {
		return func(s *script) { s.thing("a", in{"size": size}); s.group("g") }
	}
	k.up(program(p(1)))
	for _, name := range []string{"a", "g"} {
		require.Equal(t, first, k.recorded(name).Created)
		require.Equal(t, first, k.recorded(name).Modified)
	}
	c.now = c.now.Add(time.Hour)
	k.up(program(p(1)))
	require.Equal(t, first, k.recorded("a").Modified)
	k.up(program(p(2)))
	require.Equal(t, first, k.recorded("a").Created)
	require.Equal(t, c.now, k.recorded("a").Modified)
	require.Equal(t, first, k.recorded("g").Modified)
}

func TestChangedDependenciesAloneAreRecordedByASame(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", nil); s.thing("b", in{"x": 1}) }))
	r := k.up(program(func(s *script) { s.thing("b", in{"x": 1}, dependsOn(s.thing("a", nil))) }))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 2})
	require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("b").Dependencies)
}

func TestOptionsAreRecordedByASame(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"x": 1})))
	r := k.up(program(one(in{"x": 1}, protect(true), retain(true), ignore("x"), replaceOn("y"), trigger("t"), secretOutputs("arn"))))
	r.requireCounts(map[stages.Op]int{stages.OpSame: 1})
	a := k.recorded("a")
	require.True(t, a.Protect)
	require.True(t, a.RetainOnDelete)
	require.Equal(t, []string{"x"}, a.IgnoreChanges)
	require.Equal(t, []string{"y"}, a.ReplaceOnChanges)
	require.Equal(t, "t", a.ReplacementTrigger.AsString())
	require.True(t, a.Outputs.At("arn").IsSecret())
}

func TestComponentIsComparedByItsInputs(t *testing.T) {
	k := newKit(t)
	component := func(inputs in) func(s *script) {
		return func(s *script) {
			s.register("any kind of text", "g", inputs, func(r *stages.RegisterRequest) { r.Custom = false })
		}
	}
	k.up(program(component(in{"x": 1}))).requireCounts(map[stages.Op]int{stages.OpCreate: 1})
	k.up(program(component(in{"x": 1}))).requireCounts(map[stages.Op]int{stages.OpSame: 1})
	r := k.up(program(component(in{"x": 2})))
	r.requireCounts(map[stages.Op]int{stages.OpUpdate: 1})
	require.Equal(t, 2.0, k.recorded("g").Inputs.At("x").AsNumber())
	require.Empty(t, r.calls)
}

func TestComponentIsTheSameIfOnlyIgnoredInputsDifferAndRecordsThem(t *testing.T) {
	k := newKit(t)
	version := func(x, y int) func(s *script) {
		return func(s *script) {
			s.group("g", ignore("x"), func(r *stages.RegisterRequest) { r.Inputs = values(in{"x": x, "y": y}) })
		}
	}
	k.up(program(version(1, 1)))
	r := k.up(program(version(2, 1)))
	require.Equal(t, []string{"same g"}, r.steps())
	require.Equal(t, property.Number(2), k.recorded("g").Inputs.At("x"))
	r = k.up(program(version(3, 2)))
	require.Equal(t, []string{"update g"}, r.steps())
	require.Equal(t, property.Number(3), k.recorded("g").Inputs.At("x"))
}

func TestRandomSeedIsTheSameForEveryCheckOfARegistration(t *testing.T) {
	k := newKit(t)
	k.up(program(one(in{"immutable": 1})))
	r := k.up(program(one(in{"immutable": 2})))
	checks := asked[providers.CheckRequest](r, "a")
	require.Len(t, checks, 2)
	require.Equal(t, checks[0].RandomSeed, checks[1].RandomSeed)
}
