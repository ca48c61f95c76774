package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/executable"
)

// programs is the folder with the tested programs.
var programs string

func TestMain(m *testing.M) {
	status := func() int {
		folder, err := os.MkdirTemp("", "sluice-fleet-e2e-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(folder) }()
		flag.Parse()
		sluice := executable.BuildTests // its keys are cheap, and a key costs as much as a small update
		if flag.Lookup("test.bench").Value.String() != "" {
			sluice = executable.Build
		}
		ctx := context.Background()
		if err := errors.Join(executable.Build(ctx, filepath.Join(folder, "sluice-fleet"), "../cmd/sluice-fleet"),
			sluice(ctx, filepath.Join(folder, "sluice"), "../../cmd/sluice")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		programs = folder
		return m.Run()
	}()
	os.Exit(status)
}

// place is a fleet in a folder of its own, with its own state, and a cloud.
type place struct {
	t    testing.TB
	root string
	env  []string
}

func newPlace(t testing.TB, files map[string]string) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir()}
	for _, folder := range []string{"state", "home", "fleet"} {
		require.NoError(t, os.Mkdir(filepath.Join(p.root, folder), 0o755))
	}
	p.write(files)
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "SLUICE_") && !strings.HasPrefix(entry, "PULUMI_") && !strings.HasPrefix(entry, "PATH=") {
			p.env = append(p.env, entry)
		}
	}
	p.env = append(p.env, "PATH="+programs+":"+os.Getenv("PATH"), "SLUICE_HOME="+filepath.Join(p.root, "home"),
		"SLUICE_BACKEND_URL=file://"+filepath.Join(p.root, "state"), "SLUICE_CONFIG_PASSPHRASE=test")
	t.Cleanup(p.endServer)
	return p
}

func (p *place) write(files map[string]string) {
	p.t.Helper()
	for name, text := range files {
		path := p.path(name)
		require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
	}
}

func (p *place) path(name string) string { return filepath.Join(p.root, "fleet", name) }

// endServer ends the server, which would otherwise wait a moment for other users.
func (p *place) endServer() {
	_ = p.signalServer(os.Interrupt) // it may have ended
	for range 100 {
		if _, err := os.Stat(p.path(".sluice-fleet")); err != nil || os.RemoveAll(p.path(".sluice-fleet")) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// signalServer sends a signal to the server, if one runs, according to its lock. It reports whether it did.
func (p *place) signalServer(s os.Signal) bool {
	lock := flock.New(p.path(".sluice-fleet/server.lock"))
	if free, err := lock.TryRLock(); err != nil || free {
		_ = lock.Close()
		return false
	}
	pid := p.serverPID()
	if pid == 0 {
		return false // it has not begun to listen
	}
	process, err := os.FindProcess(pid)
	return err == nil && process.Signal(s) == nil
}

// serverPID returns the process of the server that began last, 0 if there was none.
func (p *place) serverPID() int {
	text, err := os.ReadFile(p.path(".sluice-fleet/server.json"))
	var is struct{ PID int }
	if err != nil || json.Unmarshal(text, &is) != nil {
		return 0
	}
	return max(is.PID, 0)
}

func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(programs, args[0]), args[1:]...)
	c.Dir, c.Env = p.path("."), p.env
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 20 * time.Second
	return c
}

// longest limits every wait of a test.
const longest = 4 * time.Minute

// run runs a command, and returns its output and its status.
func (p *place) run(args ...string) (out string, status int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), longest)
	defer cancel()
	c := p.command(ctx, args...)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	err := c.Run()
	require.NoError(p.t, ctx.Err(), "%v takes too long:\n%s", args, &text)
	if c.ProcessState == nil {
		require.NoError(p.t, err)
	}
	return text.String(), c.ProcessState.ExitCode()
}

// fleet runs a command of sluice fleet that must succeed.
func (p *place) fleet(args ...string) string {
	p.t.Helper()
	out, status := p.run(append([]string{"sluice", "fleet"}, args...)...)
	require.Equal(p.t, 0, status, "%v:\n%s", args, out)
	return out
}

// objects returns the objects of a cloud, by ID.
func (p *place) objects(cloud string) map[string]string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.root, cloud, "*.json"))
	require.NoError(p.t, err)
	out := map[string]string{}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), ".") {
			continue
		}
		text, err := os.ReadFile(f)
		require.NoError(p.t, err)
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = string(text)
	}
	return out
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// lines returns the lines of a text that contain a word.
func lines(text, word string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !strings.Contains(l, word) })
}

// program returns a program with objects in the cloud of the place. It reads the outputs of the stacks.
func program(name string, objects int, latency string, reads ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\nruntime: yaml\nconfig: {cloud: {type: string, default: ../../cloud}}\nresources:\n", name)
	fmt.Fprintf(&b, "  cloud:\n    type: pulumi:providers:sim\n    properties: {directory: \"${pulumi.cwd}/${cloudFolder}\", latency: {create: %q, update: %q}}\n", latency, latency)
	for _, r := range reads {
		fmt.Fprintf(&b, "  from%s:\n    type: pulumi:pulumi:StackReference\n    properties: {name: organization/%s/dev}\n", r, r)
	}
	for i := range objects {
		fmt.Fprintf(&b, "  obj%d:\n    type: sim:index:Resource\n    options: {provider: \"${cloud}\"}\n    properties:\n      id: obj%d-%s0a1b2c3d\n      computed: [address]\n      properties:\n        size: ${size}\n", i, i, name)
		for _, r := range reads {
			fmt.Fprintf(&b, "        %s: ${from%s.outputs[\"address\"]}\n", r, r)
		}
	}
	b.WriteString("outputs:\n  address: ${obj0.values[\"address\"]}\n  size: ${size}\n")
	text := strings.ReplaceAll(b.String(), "${cloudFolder}", "../../cloud")
	return strings.Replace(text, "config: {cloud: {type: string, default: ../../cloud}}", "config: {size: {type: integer, default: 1}}", 1)
}

// git runs git in the folder of the fleet.
func (p *place) git(args ...string) {
	p.t.Helper()
	c := exec.Command("git", args...)
	c.Dir = p.path(".")
	out, err := c.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
}
