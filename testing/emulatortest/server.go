package emulatortest

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/internal/platform/process"
)

// server is a running emulator.
type server struct {
	cmd   *exec.Cmd
	ended context.Context
	said  said
}

// start starts a server at a free port of the loopback interface and returns its address. The server ends with the test, or with this
// process if that is killed.
func start(t *testing.T, command func(host, port string) *exec.Cmd) (address string) {
	t.Helper()
	for range 3 { // another process may take the free port first
		host, port := freePort(t)
		address = net.JoinHostPort(host, port)
		s := run(t, command(host, port))
		if s.listens(address) {
			return address
		}
		t.Logf("%s does not listen at %s:\n%s", s.cmd.Path, address, s.said.text())
	}
	t.Fatal("the emulator does not start")
	return ""
}

func run(t *testing.T, cmd *exec.Cmd) *server {
	t.Helper()
	ended, end := context.WithCancel(context.Background())
	s := &server{cmd: cmd, ended: ended}
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &s.said, &s.said
	group, err := process.Start(cmd)
	if err != nil {
		end()
		t.Fatal(err)
	}
	var waiter conc.WaitGroup
	waiter.Go(func() {
		defer end()
		_ = cmd.Wait() // killing it makes this an error
	})
	t.Cleanup(func() {
		group.Kill()
		waiter.Wait()
		group.Release()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), s.said.text())
		}
	})
	return s
}

// listens waits until the server accepts connections, and reports whether it does.
func (s *server) listens(address string) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-s.ended.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return true
		}
	}
	return false
}

func freePort(t *testing.T) (host, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, port, err = net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return host, port
}

// said is the output of a server. It can be read while the server writes.
type said struct {
	mu  sync.Mutex // guards the rest
	all strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *said) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}
