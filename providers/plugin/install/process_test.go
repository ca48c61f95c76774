package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// TestMain also runs the processes that tests start to install plugins.
func TestMain(m *testing.M) {
	home := os.Getenv("INSTALL_IN")
	if home == "" {
		os.Exit(m.Run())
	}
	r := wanted()
	r.Observe = func(p Progress) { fmt.Println(p.Phase) }
	o := Options{Home: home, Dependencies: func(context.Context, Written) error {
		time.Sleep(time.Hour) // until the test kills the process
		return nil
	}}
	if _, err := New(o).Install(context.Background(), r); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is this program as one that installs the plugin.
func process(t *testing.T, n *internet, home string) *exec.Cmd {
	t.Helper()
	n.requests() // orders the test's earlier actions before the server's answers
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "INSTALL_IN="+home, "SLUICE_PLUGIN_MIRROR="+n.server.URL)
	return cmd
}

// local is the path of a process's request.
func (n *internet) local() string { return n.server.Listener.Addr().String() + "/" + archiveName }

func TestProcessesAndGoroutinesInstallOnce(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(n.local(), large(t))
	p := pool.New().WithErrors()
	for range 3 {
		p.Go(func() error {
			out, err := process(t, n, home).CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
	i := New(Options{Home: home, LookupEnv: func(name string) (string, bool) {
		return n.server.URL, name == "SLUICE_PLUGIN_MIRROR"
	}})
	for range 5 {
		p.Go(func() error { _, err := i.Install(t.Context(), wanted()); return err })
	}
	require.NoError(t, p.Wait())
	require.True(t, finds(t, home))
	require.Len(t, n.archives(), 1)
	require.Empty(t, remains(t, home))
}

func TestAKilledInstallationIsNotFoundAndGoesOn(t *testing.T) {
	n, home, archive := newInternet(t), t.TempDir(), large(t)
	n.has(n.local(), archive)
	whole, half := n.answer[n.local()], make(chan struct{})
	var asked atomic.Bool
	n.answer[n.local()] = func(w http.ResponseWriter, r *http.Request) {
		if asked.Swap(true) {
			whole(w, r)
			return
		}
		w.Header().Set("Etag", `"`+digest(archive)[:8]+`"`)
		w.Header().Set("Content-Length", fmt.Sprint(len(archive)))
		_, _ = w.Write(archive[:len(archive)/2])
		_ = http.NewResponseController(w).Flush()
		close(half)
		<-r.Context().Done()
	}
	cmd := process(t, n, home)
	require.NoError(t, cmd.Start())
	<-half
	r := wanted()
	file := (&Installer{options: Options{Home: home}}).place(Request{Kind: r.Kind, Name: r.Name, Version: "1.2.3"}).download()
	require.Eventually(t, func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() == int64(len(archive)/2)
	}, 5*time.Minute, 5*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.False(t, finds(t, home))

	out, err := process(t, n, home).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "downloading\n", string(out)[:12])
	require.True(t, finds(t, home))
	require.Equal(t, fmt.Sprintf("%s from %d-", n.local(), len(archive)/2), n.archives()[1])
}

// A limit on the size of files replaces a full disk.
func TestADownloadThatDoesNotFitOnTheDiskLeavesNothing(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("only a shell sets the limit")
	}
	n, home := newInternet(t), t.TempDir()
	n.has(n.local(), large(t))
	cmd := process(t, n, home)
	cmd.Path, cmd.Args = shell, append([]string{"sh", "-c", `ulimit -f 200 && exec "$0"`}, cmd.Args...)
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "thing-v1.2.3.download: file too large", "%s", out)
	require.Empty(t, remains(t, home))
}

func TestWhatAnInterruptedInstallationLeavesIsRepaired(t *testing.T) {
	for name, leave := range map[string]func(p place) error{
		"while it was unpacked": func(p place) error { return os.Mkdir(p.half(), 0o700) },
		"before it was in its place": func(p place) error {
			return errors.Join(os.WriteFile(p.partial(), nil, 0o600), os.Mkdir(p.half(), 0o700), os.Mkdir(p.old(), 0o700))
		},
		"after it was in its place": func(p place) error {
			return errors.Join(os.Mkdir(p.directory, 0o700), os.WriteFile(p.directory+"/"+program, []byte("the plugin"), 0o700),
				os.WriteFile(p.partial(), nil, 0o600))
		},
		"by another tool, in its place": func(p place) error {
			return errors.Join(os.Mkdir(p.directory, 0o700), os.WriteFile(p.partial(), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			n.has(mirrorHost+archiveName, good(t))
			require.NoError(t, os.Mkdir(home+"/plugins", 0o700))
			i, r := n.installer(home, mirrored), wanted()
			r.Version = "1.2.3"
			require.NoError(t, leave(i.place(r)))
			require.False(t, finds(t, home))
			p, err := i.Install(t.Context(), wanted())
			require.NoError(t, err)
			require.False(t, p.Present)
			require.True(t, finds(t, home))
			require.Empty(t, remains(t, home))
		})
	}
}

func TestTheWaitForAnotherProcessCanBeCancelled(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, good(t))
	i, r := n.installer(home, mirrored), wanted()
	r.Version = "1.2.3"
	unlock, err := i.place(r).lock(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errors.New("enough"))
	defer cancel()
	_, err = i.Install(ctx, r)
	require.EqualError(t, err, "enough")
	unlock()
	_, err = i.Install(t.Context(), r)
	require.NoError(t, err)
	require.True(t, finds(t, home))
}

func TestWhoeverNeedsAPluginDoesNotFailWithTheAttemptOfAnother(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, good(t))
	whole := n.answer[mirrorHost+archiveName]
	first, cancel := context.WithCancel(t.Context())
	var asked atomic.Bool
	n.answer[mirrorHost+archiveName] = func(w http.ResponseWriter, r *http.Request) {
		if asked.Swap(true) {
			whole(w, r)
			return
		}
		cancel()
		<-r.Context().Done()
	}
	i := n.installer(home, mirrored)
	p := pool.New().WithErrors()
	p.Go(func() error {
		if _, err := i.Once(first, wanted()); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("the first one got %w", err)
		}
		return nil
	})
	<-first.Done()
	p.Go(func() error { _, err := i.Once(t.Context(), wanted()); return err })
	require.NoError(t, p.Wait())
	require.True(t, finds(t, home))
}

func TestUsersAreToldOfInstallationsThatTheyHaveNotAskedFor(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, good(t))
	var told []string
	m := Messages{
		Note:     func(text string) { told = append(told, "note: "+text) },
		Progress: func(text string) { told = append(told, text) },
	}
	w := plugin.Wanted{Kind: plugin.Resource, Name: "thing", Version: "1.2.3"}
	forbidden := n.installer(home, map[string]string{"SLUICE_PLUGIN_MIRROR": "https://own.example", AcquisitionVariable: "true"})
	require.ErrorIs(t, forbidden.Acquire(m)(t.Context(), w), plugin.ErrNotAcquired)
	require.Empty(t, n.requests())
	require.NoError(t, n.installer(home, mirrored).Acquire(m)(t.Context(), w))
	require.Equal(t, []string{
		"note: installing the plugin resource thing 1.2.3 from https://own.example/" + archiveName,
		"downloading resource thing 1.2.3: 0.0 MB of 0.0 MB",
	}, told)
	require.NoError(t, n.installer(home, mirrored).Acquire(Messages{})(t.Context(), w)) // it exists
	require.Len(t, told, 2)
}
