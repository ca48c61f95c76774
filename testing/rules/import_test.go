package rules

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

func TestAFailedImportDoesNotKeepDependentsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		imp := ""
		o := sluice.Options{Project: "shop", Stack: "dev", State: &sluice.MemoryState{}, ContinueOnError: true,
			Providers: providertest.NewCloud(providertest.Options{}).Host(),
			Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
				a, err := m.Register(ctx, &stages.RegisterRequest{Type: "simple:index:Thing", Name: "a", Custom: true, ImportID: imp, SupportsResultReporting: true})
				if err != nil {
					return err
				}
				_, err = m.Register(ctx, &stages.RegisterRequest{Type: "simple:index:Thing", Name: "b", Custom: true, Dependencies: []urn.URN{a.URN}, SupportsResultReporting: true})
				return err
			})}
		_, err := sluice.Update(t.Context(), o)
		require.NoError(t, err)
		imp = "nosuch"
		_, err = sluice.Update(t.Context(), o)
		require.Error(t, err)
	})
}

// adopted declares the thing a with an import ID.
func adopted(id string, inputs in, with ...option) func(*script) {
	return func(s *script) { s.thing("a", inputs, append(with, imports(id))...) }
}

func TestAnImportThatMatchesIsAllThatHappens(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		r := k.try(op, program(adopted("ext-1", in{"size": 1}, protect(true))))
		require.NoError(t, r.err)
		require.Equal(t, []string{"import a"}, r.steps())
		require.Equal(t, []string{"read a", "check a", "diff a"}, r.did())
		r.requireCounts(map[stages.Op]int{stages.OpImport: 1})
		require.False(t, askedOnce[providers.ReadRequest](r, "a").Known)
	}
	a := k.recorded("a")
	require.Equal(t, "ext-1", a.ID)
	require.Equal(t, "ext-1", a.ImportID)
	require.Equal(t, values(in{"size": 1}), a.Inputs)
	require.True(t, a.Protect)
}

func TestAnImportThatDiffersIsFollowedByAnUpdate(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		r := k.try(op, program(adopted("ext-1", in{"size": 2})))
		require.NoError(t, r.err)
		require.Equal(t, []string{"import a", "update a"}, r.steps())
		update := askedOnce[providers.UpdateRequest](r, "a")
		require.Equal(t, values(in{"size": 1}), update.OldInputs)
		require.Equal(t, values(in{"size": 2}), update.NewInputs)
	}
	require.Equal(t, values(in{"size": 2}), k.recorded("a").Inputs)
}

func TestAnImportThatWouldBeReplacedIsRefusedAndStaysImported(t *testing.T) {
	const text = "previously-imported resources that still specify an ID may not be replaced"
	k := newKit(t)
	k.exists("ext-1", in{"immutable": 1})
	var told string
	p := program(func(s *script) { told = s.thing("a", in{"immutable": 2}, imports("ext-1")).ID })
	r := k.preview(p)
	r.requireDiagnostic(stages.Warning, 0, text)
	require.Contains(t, r.steps(), "replace a", "the preview shows what the update refuses")
	told = ""
	k.fails(p, text)
	require.Equal(t, "ext-1", told)
	require.Equal(t, values(in{"immutable": 1}), k.recorded("a").Inputs)
	require.Equal(t, "ext-1", k.recorded("a").ID)
}

func TestAnImportThatCannotBeComparedIsAnswered(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.fake = func(f *providertest.Fake) {
		f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
			return providers.DiffResponse{}, errors.New("no comparison")
		}
	}
	var told string
	p := program(func(s *script) { told = s.thing("a", in{"size": 2}, imports("ext-1")).ID })
	k.try(sluice.Preview, p).requireFailure("no comparison")
	told = ""
	k.fails(p, "no comparison")
	require.Equal(t, "ext-1", told)
	require.Equal(t, values(in{"size": 1}), k.recorded("a").Inputs)
}

func TestImportsOfWhatIsNotThereFail(t *testing.T) {
	k := newKit(t)
	p := program(adopted("nosuch", nil))
	k.fails(p, "resource 'nosuch' does not exist")
	k.try(sluice.Preview, p).requireFailure("resource 'nosuch' does not exist")
	require.Empty(t, k.names())
}

func TestProvidersThatReadNoInputsCannotImport(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnRead = func(context.Context, providers.ReadRequest) (providers.ReadResponse, error) {
			return providers.ReadResponse{ID: "ext-1", Properties: values(in{"size": 1})}, nil
		}
	}
	const text = "provider does not support importing resources; please try updating the 'test' plugin"
	k.fails(program(adopted("ext-1", in{"size": 1})), text)
	k.try(importing(thingToImport("a", "ext-1")), nil).requireFailure(text)
	require.Empty(t, k.all("a"))
}

func TestTheSameImportIDImportsOnce(t *testing.T) {
	for name, read := range map[string]string{"the ID of the provider": "ext-1", "another form of it": "arn:ext-1"} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake = func(f *providertest.Fake) {
				f.OnRead = func(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
					res, err := f.Base.Read(ctx, req)
					res.ID = read
					return res, err
				}
			}
			k.exists("ext-1", in{"size": 1})
			p := program(adopted("ext-1", in{"size": 1}))
			require.NoError(t, k.try(sluice.Update, p).err)
			require.Equal(t, read, k.recorded("a").ID)
			r := k.try(sluice.Update, p)
			require.NoError(t, r.err)
			require.Equal(t, []string{"same a"}, r.steps())
			require.NotContains(t, r.did(), "read a")
			require.Equal(t, "ext-1", k.recorded("a").ImportID, "it stays known by what the program calls it")
			// An import without a program compares with it too.
			r = k.imports(thingToImport("a", "ext-1"))
			require.Empty(t, r.did())
		})
	}
}

func TestAnImportThatIsNoTargetIsRecordedAsItIsFound(t *testing.T) {
	for name, leave := range map[string]func(*testing.T, *kit){
		"target":  func(t *testing.T, k *kit) { k.options.Targeting.Targets = set(t, "**::b") },
		"exclude": func(t *testing.T, k *kit) { k.options.Targeting.Excludes = set(t, "**::a", "**::c") },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			leave(t, k)
			k.exists("ext-1", in{"size": 1})
			k.exists("ext-2", in{"size": 1})
			p := program(func(s *script) {
				s.thing("b", in{"size": 1})
				a := s.thing("a", in{"size": 2}, imports("ext-1"))
				require.Equal(t, "ext-1", a.ID)
				s.thing("c", in{"size": 2}, imports("ext-2"), dependsOn(a))
			})
			for _, op := range []operation{sluice.Preview, sluice.Update} {
				r := k.try(op, p)
				require.NoError(t, r.err)
				require.Equal(t, []string{"create b", "import a", "same a", "import c", "same c"}, r.steps())
				require.NotContains(t, r.did(), "check a")
			}
			require.Equal(t, values(in{"size": 1}), k.recorded("a").Inputs)
			require.Equal(t, []urn.URN{urnOf("a")}, k.recorded("c").Dependencies)
			k.options.Targeting = stages.Targeting{}
			require.Equal(t, []string{"update a", "update c"}, k.try(sluice.Update, p).changed())
		})
	}
}

func TestAnImportThatIsNoTargetAndCannotBeRecordedIsLeftOut(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.options.Targeting.Targets = set(t, "**::b")
	r := k.up(program(func(s *script) {
		s.thing("b", nil)
		s.thing("a", in{"size": 1}, imports("ext-1"), dependsOn(s.thing("n", nil)))
	}))
	require.Equal(t, []string{"create b"}, r.changed())
	require.NotContains(t, r.did(), "read a")
	require.Equal(t, []string{"b"}, k.names())
}

func TestAnotherImportIDReplacesWhatIsManaged(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.exists("ext-2", in{"size": 2})
	require.NoError(t, k.try(sluice.Update, program(adopted("ext-1", in{"size": 1}))).err)
	r := k.try(sluice.Update, program(adopted("ext-2", in{"size": 2})))
	require.NoError(t, r.err)
	require.Equal(t, []string{"import-replacement a", "replace a", "delete-replaced a"}, r.steps())
	require.Equal(t, []string{"delete a"}, r.changed())
	require.Equal(t, "ext-1", askedOnce[providers.DeleteRequest](r, "a").ID)
	require.Equal(t, "ext-2", k.recorded("a").ID)
	require.Equal(t, "ext-2", k.recorded("a").ImportID)
}

func TestAFailedUpdateAfterAnImportKeepsTheImport(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodUpdate, URN: urnOf("a"), Err: errRefused})
	k.exists("ext-1", in{"size": 1})
	r := k.fails(program(adopted("ext-1", in{"size": 2})), errRefused.Error())
	require.Equal(t, []string{"import a", "update a"}, r.steps())
	a := k.recorded("a")
	require.Equal(t, "ext-1", a.ID)
	require.Equal(t, "ext-1", a.ImportID)
	require.Equal(t, values(in{"size": 1}), a.Inputs)
}

func TestSecretnessAloneReplacesNothingAfterAnImport(t *testing.T) {
	for name, diff := range map[string]func(*providertest.Fake){
		"the provider compares": nil,
		"the engine compares": func(f *providertest.Fake) {
			f.OnDiff = func(context.Context, providers.DiffRequest) (providers.DiffResponse, error) {
				return providers.DiffResponse{Changes: providers.DiffUnknown, ReplaceKeys: []string{"immutable"}}, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.fake = diff
			k.exists("ext-1", in{"immutable": "s"})
			r := k.try(sluice.Update, program(adopted("ext-1", in{"immutable": secret("s")})))
			require.NoError(t, r.err)
			require.NotContains(t, r.steps(), "replace a")
			require.Equal(t, "ext-1", k.recorded("a").ID)
		})
	}
}

// An import takes back the object of an old copy (decision 0236): no delete of this or a later run deletes it.
func TestAnImportTakesBackTheObjectOfAnOldCopy(t *testing.T) {
	k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "a", Nth: 1})
	k.up(program(func(s *script) { s.thing("a", in{"immutable": 1}) }))
	old := k.recorded("a").ID
	k.fails(program(func(s *script) { s.thing("a", in{"immutable": 2}) }), "delete") // the old object stays, as an old copy
	require.Len(t, k.all("a"), 2)

	// Another registration has failed before in the preview. It is never decided, and nothing waits for it.
	p := func(names ...string) source.Func {
		return program(func(s *script) {
			for _, name := range names {
				s.thing(name, nil)
			}
			s.thing("a", in{"immutable": 1}, func(r *stages.RegisterRequest) { r.ImportID = old })
		})
	}
	k.try(sluice.Preview, p("b", "b")).requireFailure("Duplicate resource URN")
	k.up(p())
	require.Len(t, k.all("a"), 1)
	require.Equal(t, old, k.recorded("a").ID)
	k.requireTruth()
	k.destroy()
	require.Empty(t, k.names())
}

// A resource that is removed leaves its object to the one that imports it.
func TestAnImportTakesOverTheObjectOfARemovedResource(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) { s.thing("a", in{"value": "x"}) }))
	id := k.recorded("a").ID
	k.up(program(func(s *script) {
		s.thing("b", in{"value": "x"}, func(r *stages.RegisterRequest) { r.ImportID = id })
	}))
	require.Empty(t, k.all("a"))
	require.Equal(t, id, k.recorded("b").ID)
	k.requireTruth()
}

// The marker of a replacement by an import stands between the import and what the comparison with the program finds.
func TestTheMarkerOfAnImportFollowsIt(t *testing.T) {
	k := newKit(t)
	k.exists("ext-1", in{"size": 1})
	k.up(program(func(s *script) { s.thing("a", in{"size": 1}) }))
	for _, op := range []operation{sluice.Preview, sluice.Update} {
		r := k.try(op, program(adopted("ext-1", in{"size": 2})))
		require.NoError(t, r.err)
		var ops []stages.Op
		for _, s := range r.Steps() {
			if s.URN == urnOf("a") {
				ops = append(ops, s.Op)
			}
		}
		require.Equal(t, []stages.Op{stages.OpImportReplacement, stages.OpReplace, stages.OpUpdate, stages.OpDeleteReplaced}, ops)
	}
}
