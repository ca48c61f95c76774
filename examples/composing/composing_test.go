package composing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/examples/composing"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/stagestest"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/urn"
)

// servers yields a registration for each size; the name is "s" and the index in the list.
func servers(sizes ...float64) iter.Seq2[*stages.RegisterRequest, error] {
	return func(yield func(*stages.RegisterRequest, error) bool) {
		for i, size := range sizes {
			if size > 0 && !yield(&stages.RegisterRequest{
				Type: "simple:index:Server", Name: fmt.Sprint("s", i), Custom: true,
				Inputs: property.NewMap(map[string]property.Value{"size": property.Number(size)}),
			}, nil) {
				return
			}
		}
	}
}

// stack is a stack in a simulated cloud.
type stack struct {
	cloud   *providertest.Cloud
	options sluice.Options
}

func newStack(name string) *stack {
	cloud := providertest.NewCloud(providertest.Options{})
	return &stack{cloud, sluice.Options{Project: "shop", Stack: name, Providers: cloud.Host(), State: &sluice.MemoryState{}}}
}

// declaring returns the options for a program that declares servers of these sizes.
func (s *stack) declaring(sizes ...float64) sluice.Options {
	o := s.options
	o.Program = source.Requests(servers(sizes...))
	return o
}

func (s *stack) names(t *testing.T) (names []string) {
	t.Helper()
	records, err := s.cloud.Records()
	require.NoError(t, err)
	for _, r := range records {
		names = append(names, r.URN.Name())
	}
	slices.Sort(names)
	return names
}

func price(_ urn.Type, inputs property.Map) float64 { return 10 * inputs.At("size").AsNumber() }

// s0 grows, s1 is not declared any more, and s2 is new.
func ExampleEstimate() {
	ctx, s := context.Background(), newStack("dev")
	if _, err := sluice.Update(ctx, s.declaring(1, 5)); err != nil {
		fmt.Println(err)
		return
	}
	engine := sluice.Standard(s.declaring(3, 0, 1))
	costs := composing.Estimate(engine, price)
	_, err := engine.Preview(ctx)
	fmt.Printf("%+.2f a month, %v\n", costs.Total(), err)

	engine = sluice.Standard(s.declaring())
	costs = composing.Estimate(engine, price)
	_, err = engine.PreviewDestroy(ctx)
	fmt.Printf("%+.2f a month, %v\n", costs.Total(), err)
	// Output:
	// -20.00 a month, <nil>
	// -60.00 a month, <nil>
}

// Preview and update together compare each server once.
func ExampleDeploy() {
	ctx, s := context.Background(), newStack("dev")
	if _, err := sluice.Update(ctx, s.declaring(1, 1, 1)); err != nil {
		fmt.Println(err)
		return
	}
	before := s.cloud.Count(providers.MethodDiff)
	result, err := composing.Deploy(ctx, s.declaring(2, 1, 1), bytes.Repeat([]byte{1}, 32))
	fmt.Println(result.Changes[stages.OpUpdate], "updated,", s.cloud.Count(providers.MethodDiff)-before, "compared,", err)
	// Output:
	// 1 updated, 3 compared, <nil>
}

// One question covers all deletes, before the first.
func ExampleApproval() {
	ctx, s := context.Background(), newStack("dev")
	if _, err := sluice.Update(ctx, s.declaring(1, 1, 1)); err != nil {
		fmt.Println(err)
		return
	}
	for _, answer := range []bool{false, true} {
		engine := sluice.Standard(s.declaring(1))
		engine.Deleting.Insert(composing.Approval(func(_ context.Context, deletes []stages.Deleting) (bool, error) {
			fmt.Println(len(deletes), "deletes, the first is that of", deletes[0].URN.Name())
			return answer, nil
		}))
		result, err := engine.Update(ctx)
		var refused *stages.RefusedError
		if errors.As(err, &refused) {
			err = refused // without the context that the operation adds
		}
		fmt.Println(result.Changes[stages.OpDelete], "deleted,", err)
	}
	// Output:
	// 2 deletes, the first is that of s2
	// 0 deleted, nobody has approved the delete
	// 2 deletes, the first is that of s2
	// 2 deleted, <nil>
}

func TestAnApprovalKeepsTheRulesOfItsSlot(t *testing.T) {
	for _, answer := range []bool{true, false} {
		stage := composing.Approval(func(context.Context, []stages.Deleting) (bool, error) { return answer, nil })
		stagestest.Check(t, stage, func() []stages.Deleting { return []stages.Deleting{stagestest.Resource{Name: "a"}.Deleting()} })
	}
}

func TestWhoWaitsForAnApprovalCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack("dev")
		_, err := sluice.Update(t.Context(), s.declaring(1, 1))
		require.NoError(t, err)
		ctx, cancel := context.WithCancelCause(t.Context())
		closing := errors.New("the office closes")
		time.AfterFunc(time.Hour, func() { cancel(closing) })
		engine := sluice.Standard(s.declaring())
		engine.Deleting.Insert(composing.Approval(func(ctx context.Context, _ []stages.Deleting) (bool, error) {
			<-ctx.Done()
			return false, context.Cause(ctx)
		}))
		_, err = engine.Destroy(ctx)
		require.ErrorIs(t, err, closing)
		require.Equal(t, []string{"s0", "s1"}, s.names(t))
	})
}

func TestTheTrailHasWhatWasChangedAndNoSecrets(t *testing.T) {
	s := newStack("dev")
	var b bytes.Buffer
	perform := func(op func(context.Context, sluice.Options) (*sluice.Result, error), o sluice.Options) error {
		trail := sluice.NewBufferedObserver(100, composing.Audit(&b, "ada", func(err error) { t.Error(err) }))
		o.Observe = trail.Observe
		_, err := op(t.Context(), o)
		require.NoError(t, trail.Close())
		return err
	}
	require.NoError(t, perform(sluice.Preview, s.declaring(1)))
	require.Empty(t, b.String())
	require.NoError(t, perform(sluice.Update, s.declaring(1)))
	require.NoError(t, perform(sluice.Update, s.declaring(1)))
	require.NoError(t, perform(sluice.Destroy, s.declaring()))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"by":"ada","op":"create","urn":"urn:pulumi:dev::shop::simple:index:Server::s0"`)
	require.Contains(t, lines[1], `"op":"delete"`)

	secret := s.declaring()
	secret.Program = source.Func(func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Register(ctx, &stages.RegisterRequest{Type: "simple:index:Server", Name: "s", Custom: true, Inputs: property.NewMap(map[string]property.Value{
			"invalid": property.Secret(property.String("hunter2")),
		})})
		return err
	})
	require.Error(t, perform(sluice.Update, secret))
	require.NotContains(t, b.String(), "hunter2")
}

// Two operations share a budget of one change a second.
func TestLimitsSlowOperationsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits, err := providers.NewLimits(providers.Rule{Methods: []providers.Method{providers.MethodChanges}, Rate: 1})
		require.NoError(t, err)
		began := time.Now()
		var operations sync.WaitGroup
		for _, name := range []string{"dev", "prod"} {
			operations.Go(func() {
				o := newStack(name).declaring(1, 1, 1)
				o.Limits = limits
				_, err := sluice.Update(t.Context(), o)
				require.NoError(t, err)
			})
		}
		operations.Wait()
		require.Equal(t, 5*time.Second, time.Since(began), "by the clock of the test")
	})
}

func TestAControllerUndoesWhatOthersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStack("dev")
		var done []string
		var held atomic.Bool
		c := &composing.Controller{
			Options: s.declaring(1, 2), Interval: time.Minute, Longest: 4 * time.Minute,
			Locked: func(ctx context.Context, f func(context.Context, state.Store) error) error {
				if held.Load() {
					return errors.New("somebody else has the lock")
				}
				return f(ctx, s.options.State)
			},
			Reconciled: func(r *sluice.Result, err error) {
				done = append(done, fmt.Sprint(time.Now().Format("15:04"), " ", err == nil && r.HasChanges(), " ", err == nil))
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		at := func(d time.Duration, f func()) { time.AfterFunc(d+30*time.Second, f) }
		at(time.Minute, func() {
			require.NoError(t, s.cloud.Remove(providertest.ID(urn.New("dev", "shop", "", "simple:index:Server", "s1"), 1)))
		})
		at(3*time.Minute, func() { held.Store(true) })
		at(9*time.Minute, cancel)
		require.ErrorIs(t, c.Run(ctx), context.Canceled)
		require.Equal(t, []string{
			"00:00 true true", "00:01 false true", "00:02 true true", "00:03 false true", "00:04 false false", "00:06 false false",
		}, done)
		require.Equal(t, []string{"s0", "s1"}, s.names(t))
	})
}

// The history of a controller would grow with each cycle.
func TestACycleWithoutChangesWritesNothing(t *testing.T) {
	s, dir := newStack("dev"), t.TempDir()
	b, err := host.OpenBackend(t.Context(), host.BackendOptions{URL: "file://" + filepath.ToSlash(dir), Project: "shop"})
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	written := func() (files []string) {
		require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			files = append(files, fmt.Sprint(path, " ", info.Size(), " ", info.ModTime()))
			return err
		}))
		return files
	}
	var after [][]string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := &composing.Controller{
		Options: s.declaring(1, 2), Interval: time.Millisecond, Longest: time.Millisecond,
		Locked: func(ctx context.Context, f func(context.Context, state.Store) error) error {
			o := host.LockedOptions{Create: true, Secrets: secrets.Plain{}}
			return host.Locked(ctx, b, "dev", o, func(ctx context.Context, s backend.Stack) error { return f(ctx, s) })
		},
		Reconciled: func(_ *sluice.Result, err error) {
			require.NoError(t, err)
			if after = append(after, written()); len(after) == 4 {
				cancel()
			}
		},
	}
	require.ErrorIs(t, c.Run(ctx), context.Canceled)
	require.NotEmpty(t, after[0])
	for _, files := range after {
		require.Equal(t, after[0], files)
	}
}

func TestAMemoAsksOnlyAboutWhatHasChanged(t *testing.T) {
	s := newStack("dev")
	plugin, table := "1.0.0", []byte(nil)
	asked := func(program sluice.Options) string {
		memo, err := composing.NewMemo(table)
		require.NoError(t, err)
		program.Providers = memo.Host(s.cloud.Host(), func(spec providers.Spec) string { return spec.Package + plugin })
		checks, diffs := s.cloud.Count(providers.MethodCheck), s.cloud.Count(providers.MethodDiff)
		_, err = sluice.Update(t.Context(), program)
		require.NoError(t, err)
		table, err = memo.Encode()
		require.NoError(t, err)
		return fmt.Sprint(s.cloud.Count(providers.MethodCheck)-checks, " ", s.cloud.Count(providers.MethodDiff)-diffs)
	}
	require.Equal(t, "3 0", asked(s.declaring(1, 1, 1)), "new resources")
	require.Equal(t, "3 3", asked(s.declaring(1, 1, 1)), "recorded ones, for the first time")
	require.Equal(t, "0 0", asked(s.declaring(1, 1, 1)))
	require.Equal(t, "1 1", asked(s.declaring(2, 1, 1)), "one has changed")
	require.Equal(t, "1 1", asked(s.declaring(2, 1, 1)), "its recorded inputs are others now")
	require.Equal(t, "0 0", asked(s.declaring(2, 1, 1)))
	plugin = "1.0.1"
	require.Equal(t, "3 3", asked(s.declaring(2, 1, 1)), "another plugin may answer differently")

	secret := s.declaring()
	secret.Program = source.Func(func(ctx context.Context, m stages.Monitor) error {
		_, err := m.Register(ctx, &stages.RegisterRequest{
			Type: "simple:index:Server", Name: "s0", Custom: true,
			Inputs: property.NewMap(map[string]property.Value{"password": property.Secret(property.String("hunter2"))}),
		})
		return err
	})
	for range 3 {
		require.Equal(t, "1 1", asked(secret), "what has secrets is asked each time")
		require.NotContains(t, string(table), "hunter2")
	}
	table = []byte("{no")
	_, err := composing.NewMemo(table)
	require.ErrorContains(t, err, "remove it")
}

func TestDriftFindsTheStacksThatDiffer(t *testing.T) {
	var all []sluice.Options
	for i := range 20 {
		s := newStack(fmt.Sprint("stack", i))
		_, err := sluice.Update(t.Context(), s.declaring(1))
		require.NoError(t, err)
		switch i {
		case 7:
			records, err := s.cloud.Records()
			require.NoError(t, err)
			changed := records[0]
			changed.Inputs = changed.Inputs.With("size", property.Number(2))
			require.NoError(t, s.cloud.Put(changed))
		case 11:
			s.options.Parallel = -1 // the options are invalid
		}
		all = append(all, s.options)
	}
	var found []string
	require.NoError(t, composing.Drift(t.Context(), all, 4, func(d composing.Drifted) {
		found = append(found, fmt.Sprint(d.Stack, " ", d.Err != nil))
	}))
	slices.Sort(found)
	require.Equal(t, []string{"stack11 true", "stack7 false"}, found)
}
