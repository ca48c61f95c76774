//go:build !windows

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

// An outage of the database, such as a restart, only delays an update.
func TestAnUpdateOutlivesAnOutageOfItsDatabase(t *testing.T) {
	tier.Slow(t, "an outage")
	a := newArenaAt(t, buildTools(t), inDatabase(t))
	a.run(0, "config", "set", "scenario", "many")
	a.run(0, "config", "set", "count", "12")
	a.run(0, "config", "set", "simple:delayMs", "200")
	update, out := a.command("up", "--yes", "--skip-preview", "--parallel", "2")
	require.NoError(t, update.Start())
	require.Eventually(t, func() bool { return len(a.cloud()) > 2 }, patience, 10*time.Millisecond, "%s", out)
	a.states.link.Refuse()
	time.Sleep(4 * time.Second)
	began := len(a.cloud())
	require.Less(t, began, 12, "nothing begins that cannot be recorded")
	a.states.link.Mend()
	require.NoError(t, update.Wait(), "%s", out)
	require.Len(t, a.cloud(), 12)
	require.Equal(t, a.cloud(), a.state().things)
	require.Empty(t, a.state().pending)
	a.run(0, "preview", "--expect-no-changes")

	a.states.link.Refuse()
	require.Contains(t, a.run(1, "preview"), "refused", "where nobody answers from the start, nobody waits")
}

// server is the service in a process of its own, which can be killed.
type server struct {
	*testing.T
	options []string
	file    string // for its data
	address string
	process *exec.Cmd
	said    bytes.Buffer
}

// newServer starts a service with a form of states.
func newServer(t *testing.T, form string) *server {
	dir := t.TempDir()
	build(t, dir+"/serve", "../../testing/servicetest/cmd/serve")
	s := &server{T: t, options: []string{dir + "/serve", form, "-data", dir + "/data", "-url", dir + "/url"}, file: dir + "/url", address: "127.0.0.1:0"}
	s.start()
	t.Cleanup(func() {
		require.NoError(t, s.process.Process.Signal(syscall.SIGTERM))
		require.NoError(t, s.process.Wait(), "%s", &s.said)
	})
	return s
}

// start starts it at its former address.
func (s *server) start() {
	require.NoError(s, os.RemoveAll(s.file))
	s.process = exec.Command(s.options[0], append(s.options[1:], "-listen", s.address)...)
	s.process.Stderr = &s.said
	require.NoError(s, s.process.Start())
	require.Eventually(s, func() bool {
		text, err := os.ReadFile(s.file)
		s.address = strings.TrimPrefix(string(text), "http://")
		return err == nil && len(text) > 0
	}, patience, 10*time.Millisecond)
}

func (s *server) kill() {
	require.NoError(s, s.process.Process.Kill())
	require.Error(s, s.process.Wait())
}

// If the service is killed during an update, the update does not wait for it. If the service is back in time, the update ends as if nothing had
// happened. Otherwise the records stay on this machine until the command that the update names has sent them.
func TestAnUpdateOutlivesItsService(t *testing.T) {
	tier.Slow(t, "an outage")
	t.Setenv("PULUMI_ACCESS_TOKEN", "pul-alice")
	tools := buildTools(t)
	for _, form := range []string{"-journal", "-delta", "-delta=false"} {
		t.Run(form, func(t *testing.T) {
			s := newServer(t, form)
			a := newArenaAt(t, tools, place{url: "http://" + s.address})
			a.run(0, "config", "set", "scenario", "many")
			a.run(0, "config", "set", "simple:delayMs", "200")
			count := 0
			// killed starts an update that creates objects, and kills the service during it.
			killed := func(more int) (*exec.Cmd, *bytes.Buffer) {
				before := len(a.cloud())
				count += more
				a.run(0, "config", "set", "count", strconv.Itoa(count))
				update, out := a.command("up", "--yes", "--skip-preview", "--parallel", "2")
				require.NoError(t, update.Start())
				require.Eventually(t, func() bool { return len(a.cloud()) > before+2 }, patience, 10*time.Millisecond)
				s.kill()
				return update, out
			}
			// requireSame checks that the service has recorded every object, once.
			requireSame := func() {
				a.run(0, "stack", "export", "--file", a.dir+"/state.json")
				text, err := os.ReadFile(a.dir + "/state.json")
				require.NoError(t, err)
				var exported struct{ Deployment deployment }
				require.NoError(t, json.Unmarshal(text, &exported))
				require.Len(t, a.cloud(), count)
				require.Equal(t, a.cloud(), a.recorded(exported.Deployment).things)
				require.Empty(t, exported.Deployment.Pending)
				a.run(0, "preview", "--expect-no-changes")
			}

			update, out := killed(12)
			made := len(a.cloud())
			require.Eventually(t, func() bool { return len(a.cloud()) > made+2 }, patience, 10*time.Millisecond, "what is recorded here needs no service")
			s.start()
			require.NoError(t, update.Wait(), "%s", out)
			require.NotContains(t, out.String(), "recorded on this machine")
			requireSame()

			a.env = append(a.env, "SLUICE_SERVICE_PATIENCE=1s")
			update, out = killed(8)
			require.Error(t, update.Wait())
			require.Contains(t, out.String(), "recorded on this machine")
			require.Contains(t, out.String(), "`sluice recover` sends it")
			require.Len(t, a.cloud(), count)
			require.Contains(t, a.run(1, "recover", "--yes"), "cannot be reached")
			s.start()
			require.Contains(t, a.run(0, "recover", "--yes"), "has been sent to the service")
			requireSame()
		})
	}
}
