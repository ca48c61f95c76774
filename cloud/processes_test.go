package cloud_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/testing/emulatortest"
	"github.com/sluice-iac/sluice/testing/postgrestest"
)

// processes is the number of processes that change one stack at the same time. At an emulator it is processesAtEmulators, because each process has to
// wait for hundreds of requests of the others.
const processes, processesAtEmulators = 20, 6

// Each process adds one resource to the state. If two processes ran at the same time, or one overwrote the state of
// another, resources would be missing at the end.
func TestManyProcessesLoseNoUpdate(t *testing.T) {
	if url := os.Getenv("SLUICE_TEST_BACKEND"); url != "" {
		updateOnce(t, url, os.Getenv("SLUICE_TEST_NAME"), os.Getenv("SLUICE_TEST_MARK"))
		return
	}
	type place struct {
		processes int
		open      func(*testing.T) string
	}
	places := map[string]place{
		"directory": {processes, func(t *testing.T) string { return "file://" + t.TempDir() }},
		"postgres":  {processes, postgrestest.Start},
	}
	for name, at := range emulatortest.Stores() {
		places[name] = place{processesAtEmulators, func(t *testing.T) string {
			place := at.Start(t, "/team", emulatortest.Direct)
			place.Use(t)
			return place.URL
		}}
	}
	for name, at := range places {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			backend := at.open(t)
			b := openBackend(t, backend)
			ref, err := b.Resolve("dev")
			require.NoError(t, err)
			stack, err := b.Init(ctx, ref, nil)
			require.NoError(t, err)

			mark := filepath.Join(t.TempDir(), "held")
			var want []string
			var mu sync.Mutex
			var wg conc.WaitGroup
			for i := range at.processes {
				name := fmt.Sprintf("process-%02d", i)
				want = append(want, name)
				wg.Go(func() {
					cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcessesLoseNoUpdate$", "-test.v")
					cmd.Env = append(os.Environ(), "SLUICE_TEST_BACKEND="+backend, "SLUICE_TEST_NAME="+name, "SLUICE_TEST_MARK="+mark)
					out, err := cmd.CombinedOutput()
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Errorf("%s: %v\n%s", name, err, out)
					}
				})
			}
			wg.Wait()
			require.Equal(t, want, names(t, stack))
			locks, err := stack.Locks(ctx)
			require.NoError(t, err)
			require.Empty(t, locks)
		})
	}
}

func openBackend(t *testing.T, url string) backend.Backend {
	b, err := host.OpenBackend(context.Background(), host.BackendOptions{
		URL: url, Project: "shop", LookupEnv: os.LookupEnv, Stores: cloud.Stores(),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// names returns the names of the program's resources in the state.
func names(t *testing.T, stack backend.Stack) []string {
	snapshot, err := stack.Load(context.Background())
	require.NoError(t, err)
	var all []string
	for _, r := range snapshot.Resources {
		if r.Type == "simple:index:Thing" {
			all = append(all, r.URN.Name())
		}
	}
	slices.Sort(all)
	return all
}

// updateOnce waits for the lock and runs one update. The file mark exists while a process holds the lock.
func updateOnce(t *testing.T, url, name, mark string) {
	ctx := context.Background()
	b := openBackend(t, url)
	ref, err := b.Resolve("dev")
	require.NoError(t, err)
	stack, err := b.Open(ctx, ref)
	require.NoError(t, err)
	var taken backend.Lock
	for {
		taken, err = stack.Lock(ctx, backend.LockOptions{Operation: "update"})
		var held *lock.HeldError
		if !errors.As(err, &held) {
			break
		}
		time.Sleep(rand.N(50 * time.Millisecond))
	}
	require.NoError(t, err)
	f, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	require.NoError(t, err, "two holders at once")
	require.NoError(t, f.Close())

	declared := append(names(t, stack), name)
	_, err = sluice.Update(ctx, sluice.Options{
		Project: "shop", Stack: "dev", State: stack, Providers: providertest.NewCloud(providertest.Options{}).Host(),
		Program: source.Func(func(ctx context.Context, m stages.Monitor) error {
			for _, name := range declared {
				if _, err := m.Register(ctx, &stages.RegisterRequest{
					Type: "simple:index:Thing", Name: name, Custom: true, Inputs: property.NewMap(nil),
				}); err != nil {
					return err
				}
			}
			return nil
		}),
	})
	require.NoError(t, err)
	require.NoError(t, os.Remove(mark))
	require.NoError(t, taken.Close())
}
