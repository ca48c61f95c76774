package host_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

var created = host.LockedOptions{Create: true, Secrets: secrets.Plain{}, Operation: "update", Message: "from a test"}

// openDir opens a backend in a folder, as a process does.
func openDir(t *testing.T, dir string) backend.Backend {
	t.Helper()
	b, err := host.OpenBackend(t.Context(), host.BackendOptions{
		URL: "file://" + filepath.ToSlash(dir), Project: "shop", LookupEnv: func(string) (string, bool) { return "", false },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func declaring(names ...string) source.Func {
	return func(ctx context.Context, m stages.Monitor) error {
		for _, n := range names {
			_, err := m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: n, Custom: true, Inputs: property.NewMap(nil)})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func optionsOn(s state.Store, c *providertest.Cloud, p source.Program) sluice.Options {
	return sluice.Options{
		Project: "shop", Stack: "dev", State: s, Providers: c.Host(), Program: p,
		Config: sluice.Config{"shop:size": {Text: "3"}, "shop:password": {Text: "hunter2", Secret: true}},
	}
}

func requireUnlocked(t *testing.T, b backend.Backend) {
	t.Helper()
	ref, err := b.Resolve("dev")
	require.NoError(t, err)
	s, err := b.Open(t.Context(), ref)
	require.NoError(t, err)
	held, err := s.Locks(t.Context())
	require.NoError(t, err)
	require.Empty(t, held)
}

func TestLockedRunsOperationsAndWritesTheHistory(t *testing.T) {
	dir := t.TempDir()
	b, other := openDir(t, dir), openDir(t, dir)
	cloud := providertest.NewCloud(providertest.Options{})
	require.ErrorAs(t, host.Locked(t.Context(), b, "dev", host.LockedOptions{}, nil), new(*backend.NotFoundError))
	err := host.Locked(t.Context(), b, "dev", created, func(ctx context.Context, s backend.Stack) error {
		require.ErrorAs(t, host.Locked(ctx, other, "dev", created, nil), new(*lock.HeldError))
		_, err := sluice.Preview(ctx, optionsOn(s, cloud, declaring("a")))
		require.NoError(t, err)
		_, err = sluice.Update(ctx, optionsOn(s, cloud, declaring("a")))
		require.NoError(t, err)
		_, err = sluice.Update(ctx, optionsOn(s.WithSecrets(secrets.Plain{}), cloud, source.Func(func(context.Context, stages.Monitor) error {
			return errors.New("no program today")
		})))
		require.ErrorContains(t, err, "no program today")
		return err
	})
	require.ErrorContains(t, err, "no program today")
	requireUnlocked(t, other)

	err = host.Locked(t.Context(), other, "dev", host.LockedOptions{}, func(ctx context.Context, s backend.Stack) error {
		snapshot, err := s.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, "a", snapshot.Resources[len(snapshot.Resources)-1].URN.Name())
		history, warnings, err := s.History(ctx)
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Len(t, history, 2, "a preview is not part of it")
		require.Equal(t, []string{backend.ResultFailed, backend.ResultSucceeded}, []string{history[0].Result, history[1].Result})
		first := history[1]
		require.Equal(t, "update", first.Kind)
		require.Equal(t, "from a test", first.Message)
		require.Equal(t, 1, first.ResourceChanges["create"])
		require.JSONEq(t, `{"shop:size": "3"}`, string(first.Config))
		return nil
	})
	require.NoError(t, err)
}

// A controller writes a history without end unless it has a limit.
func TestTheHistoryAndTheBackupsAreBounded(t *testing.T) {
	dir := t.TempDir()
	b := openDir(t, dir)
	cloud := providertest.NewCloud(providertest.Options{})
	files := func(kind string) int {
		found, err := filepath.Glob(filepath.Join(dir, ".pulumi", kind, "shop", "dev", "*"))
		require.NoError(t, err)
		return len(found)
	}
	update := func(setting string, names ...string) error {
		return host.Locked(t.Context(), b, "dev", created, func(ctx context.Context, s backend.Stack) error {
			o := optionsOn(s, cloud, declaring(names...))
			if setting != "" {
				o.Config[backend.HistoryKey] = sluice.ConfigValue{Text: setting}
			}
			_, err := sluice.Update(ctx, o)
			return err
		})
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		require.NoError(t, update("", name))
	}
	require.Equal(t, []int{8, 4}, []int{files("history"), files("backups")}, "records and copies, and backups")
	require.ErrorContains(t, update(`{"keep": 0}`, "e"), "config sluice:history must be an object")
	require.Equal(t, []int{10, 5}, []int{files("history"), files("backups")}, "a wrong setting removes nothing")

	require.NoError(t, update(`{"keep": 2}`, "f"))
	require.Equal(t, []int{4, 2}, []int{files("history"), files("backups")})
	ref, err := b.Resolve("dev")
	require.NoError(t, err)
	s, err := b.Open(t.Context(), ref)
	require.NoError(t, err)
	history, warnings, err := s.History(t.Context())
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, history, 2)
	newest, err := s.ExportVersion(t.Context(), 2, false)
	require.NoError(t, err)
	require.Contains(t, string(newest), "Thing::f")
	snapshot, err := s.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, "f", snapshot.Resources[len(snapshot.Resources)-1].URN.Name())
}

func TestLockedReleasesTheLockHoweverItEnds(t *testing.T) {
	why := errors.New("the office closes")
	for name, f := range map[string]func(context.CancelCauseFunc) error{
		"by an error": func(context.CancelCauseFunc) error { return why },
		"by a panic":  func(context.CancelCauseFunc) error { panic(why) },
		"canceled": func(cancel context.CancelCauseFunc) error {
			cancel(why)
			return context.Canceled
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := openDir(t, t.TempDir())
			ctx, cancel := context.WithCancelCause(t.Context())
			var err error
			func() {
				defer func() {
					if v := recover(); v != nil {
						err = v.(error)
					}
				}()
				err = host.Locked(ctx, b, "dev", created, func(context.Context, backend.Stack) error { return f(cancel) })
			}()
			require.ErrorIs(t, err, why)
			if name == "canceled" {
				require.ErrorIs(t, err, context.Canceled)
				require.EqualError(t, err, "context canceled (the office closes)")
			}
			requireUnlocked(t, b)
			cancel(nil)
		})
	}
}

func TestAStackIsRecordedOnlyWithinLocked(t *testing.T) {
	b := openDir(t, t.TempDir())
	cloud := providertest.NewCloud(providertest.Options{})
	var outside backend.Stack
	require.NoError(t, host.Locked(t.Context(), b, "dev", created, func(_ context.Context, s backend.Stack) error {
		outside = s
		return nil
	}))
	_, err := sluice.Update(t.Context(), optionsOn(outside, cloud, declaring("a")))
	var refused *backend.NotLockedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "dev", refused.Ref.Name)
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Empty(t, records, "nothing was made that is not recorded")
}

// Two updates at the same time: the record of neither must be lost.
func TestOneOfTwoOperationsOnAStateIsRefused(t *testing.T) {
	for name, store := range map[string]func(t *testing.T, f func(state.Store)){
		"in memory": func(_ *testing.T, f func(state.Store)) { f(&sluice.MemoryState{}) },
		"of a backend": func(t *testing.T, f func(state.Store)) {
			require.NoError(t, host.Locked(t.Context(), openDir(t, t.TempDir()), "dev", created, func(_ context.Context, s backend.Stack) error {
				f(s)
				return nil
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			store(t, func(s state.Store) {
				cloud := providertest.NewCloud(providertest.Options{})
				var second error
				_, err := sluice.Update(t.Context(), optionsOn(s, cloud, source.Func(func(ctx context.Context, m stages.Monitor) error {
					_, second = sluice.Update(ctx, optionsOn(s, cloud, declaring("b")))
					return declaring("a")(ctx, m)
				})))
				require.NoError(t, err)
				require.ErrorContains(t, second, "another operation")
				requireRecorded(t, s, cloud, "a")
			})
		})
	}
}

// If another operation has changed the state since it was loaded, the record of that operation would be lost.
func TestAnOperationOnAStateThatHasChangedIsRefused(t *testing.T) {
	s, cloud := &sluice.MemoryState{}, providertest.NewCloud(providertest.Options{})
	loaded, changed := await.NewEvent(), await.NewEvent()
	var late error
	done := await.NewEvent()
	go func() {
		defer done.Fire()
		_, late = sluice.Update(t.Context(), optionsOn(&slowlyLoaded{s, loaded, changed}, cloud, declaring("late")))
	}()
	require.NoError(t, loaded.Wait(t.Context()))
	_, err := sluice.Update(t.Context(), optionsOn(s, cloud, declaring("a")))
	require.NoError(t, err)
	changed.Fire()
	require.NoError(t, done.Wait(t.Context()))
	require.ErrorIs(t, late, sluice.ErrRecording)
	requireRecorded(t, s, cloud, "a")
}

// slowlyLoaded is a state that changes between its loading and its recording.
type slowlyLoaded struct {
	*sluice.MemoryState
	loaded, changed *await.Event
}

func (s *slowlyLoaded) Load(ctx context.Context) (*state.Snapshot, error) {
	snapshot, err := s.MemoryState.Load(ctx)
	s.loaded.Fire()
	return snapshot, errors.Join(err, s.changed.Wait(ctx))
}

// requireRecorded compares the recorded resources with the existing objects.
func requireRecorded(t *testing.T, s state.Store, cloud *providertest.Cloud, names ...string) {
	t.Helper()
	snapshot, err := s.Load(t.Context())
	require.NoError(t, err)
	var recorded, existing []string
	for _, r := range snapshot.Resources {
		if !r.Type.IsProvider() {
			recorded = append(recorded, r.URN.Name())
		}
	}
	records, err := cloud.Records()
	require.NoError(t, err)
	for _, r := range records {
		existing = append(existing, r.URN.Name())
	}
	require.Equal(t, names, recorded)
	require.Equal(t, names, existing)
}

// filling is a store that may have no room for stack files.
type filling struct {
	store.Store
	full *atomic.Bool
}

var errFull = errors.New("disk full")

func (f filling) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if f.full.Load() && strings.Contains(key, "/stacks/") {
		return store.Info{}, errFull
	}
	return f.Store.Write(ctx, key, content, c)
}

// A controller goes on after a failure that passes.
func TestAProcessLocksAStackAgainWhoseStateCouldNotBeWritten(t *testing.T) {
	for name, reopen := range map[string]bool{"in the same backend": false, "in another backend": true} {
		t.Run(name, func(t *testing.T) {
			dir, full := t.TempDir(), &atomic.Bool{}
			open := func() backend.Backend {
				b, err := host.OpenBackend(t.Context(), host.BackendOptions{URL: "mine://x", Project: "shop", Stores: map[string]store.Opener{
					"mine": func(context.Context, string, func(string) (string, bool)) (store.Store, error) {
						return filling{store.NewDir(dir), full}, nil
					},
				}})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, b.Close()) })
				return b
			}
			cloud := providertest.NewCloud(providertest.Options{})
			update := func(b backend.Backend, fails bool) (*sluice.Result, error) {
				var result *sluice.Result
				err := host.Locked(t.Context(), b, "dev", created, func(ctx context.Context, s backend.Stack) (err error) {
					full.Store(fails)
					defer full.Store(false)
					result, err = sluice.Update(ctx, optionsOn(s, cloud, declaring("a", "b")))
					return err
				})
				return result, err
			}
			b := open()
			_, err := update(b, true)
			require.ErrorIs(t, err, errFull)
			require.ErrorContains(t, err, "the lock of stack dev is kept")
			if reopen {
				b = open()
			}
			result, err := update(b, false)
			require.NoError(t, err)
			require.Equal(t, map[stages.Op]int{stages.OpSame: 2}, result.Changes, "what was made is known")
			requireUnlocked(t, b)
		})
	}
}

// ours is a secrets manager of the program.
type ours struct{}

func (ours) Provider() *state.SecretsProvider {
	return &state.SecretsProvider{Type: "ours", State: []byte(`{}`)}
}
func (o ours) Encrypter() property.Encrypter { return o }
func (o ours) Decrypter() property.Decrypter { return o }

func (ours) Encrypt(_ context.Context, text string) (string, error) { return "ours:" + text, nil }
func (ours) Decrypt(_ context.Context, text string) (string, error) {
	return strings.TrimPrefix(text, "ours:"), nil
}

func TestAStateWithSecretsOfTheProgramNeedsItsManager(t *testing.T) {
	b := openDir(t, t.TempDir())
	cloud := providertest.NewCloud(providertest.Options{})
	update := func(m secrets.Manager) error {
		return host.Locked(t.Context(), b, "dev", host.LockedOptions{Create: true, Secrets: m}, func(ctx context.Context, s backend.Stack) error {
			_, err := sluice.Update(ctx, optionsOn(s, cloud, source.Func(func(ctx context.Context, m stages.Monitor) error {
				_, err := m.Register(ctx, &stages.RegisterRequest{Type: "test:index:Thing", Name: "a", Custom: true,
					Inputs: property.NewMap(map[string]property.Value{"s": property.Secret(property.String("x"))})})
				return err
			})))
			return err
		})
	}
	require.NoError(t, update(ours{}))
	require.NoError(t, update(ours{}))
	err := update(nil)
	require.ErrorAs(t, err, new(*secrets.UnsupportedProviderError))
	require.ErrorContains(t, err, `no known secrets provider for type "ours"`)
	require.ErrorContains(t, err, "give that to LockedOptions.Secrets")
}
