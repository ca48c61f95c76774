//go:build !windows

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/tier"
)

// attack is the behaviour of a hostile program or policy pack, and the expected end of the update.
type attack struct {
	settings []string // of the program, "name=value"
	pack     string   // "<method> <deed>"; "" runs no pack
	env      []string
	presses  int // of Ctrl-C, after something hangs
	status   int
	says     []string
	made     int // the number of things afterwards
}

var hostilePrograms = map[string]attack{
	"hangs, and is ended":               {settings: []string{"attack=hang"}, presses: 2, status: 8, made: 1},
	"hangs, and ignores interrupts":     {settings: []string{"attack=hang stubbornly"}, presses: 3, status: 8, made: 1},
	"stays when all is done":            {settings: []string{"attack=signal and hang"}, status: 1, made: 1, says: []string{"the program did not end by itself"}},
	"ends while registrations wait":     {settings: []string{"attack=end while parked", "simple:delayMs=200"}, made: 51},
	"declares one thing again":          {settings: []string{"attack=same urn", "number=2000"}, status: 1, made: 1, says: []string{"Duplicate resource URN"}},
	"registers outputs of anything":     {settings: []string{"attack=outputs"}, made: 1, says: []string{"whose registration isn't pending"}},
	"goes on after its end":             {settings: []string{"attack=outputs at the end"}, made: 1},
	"opens connections and stalls":      {settings: []string{"attack=connections", "number=500"}, presses: 2, status: 8, made: 1},
	"opens streams and stalls":          {settings: []string{"attack=streams", "number=5000"}, presses: 2, status: 8, made: 1},
	"sends garbage":                     {settings: []string{"attack=garbage bytes"}, made: 1, says: []string{"is nested deeper than 1000 levels", "invalid UTF-8"}},
	"sends bad signatures":              {settings: []string{"attack=signatures"}, made: 4, says: []string{"malformed RPC secret"}},
	"calls services that do not exist":  {settings: []string{"attack=unknown services"}, made: 1, says: []string{"unknown service pulumirpc.Nothing"}},
	"registers nonsense as packages":    {settings: []string{"attack=packages"}, made: 1, says: []string{"unknown provider package 'nonsense'"}},
	"never answers a transform":         callback("transform", "never", 1, 8, 1),
	"never answers an invoke transform": callback("invoke", "never", 1, 8, 1, "resource monitor shut down"),
	"never answers a before hook":       callback("before", "never", 2, 8, 1, "before hook \"hook\" failed"),
	"never answers an after hook":       callback("after", "never", 2, 8, 2, "after hook \"hook\" failed"),
	"dies in a before hook":             callback("before", "die", 0, 1, 1, "the process that serves the callback has ended, or does not answer"),
	"dies in an after hook":             callback("after", "die", 0, 1, 2, "the process that serves the callback has ended, or does not answer"),
	"fails a hook with a huge error": {
		settings: []string{"attack=callbacks", "kind=before", "answer=huge error", "number=20"}, status: 1, made: 1,
		says: []string{"before hook \"hook\" failed: xxx", "... (20.0 MiB in all; --show-full-output shows 1.0 MiB of them)"},
	},
	"answers garbage to a hook":     callback("before", "garbage", 0, 1, 1, "decode the response of a callback"),
	"answers what is nested deeply": callback("transform", "deep", 0, 0, 1, "nested deeper than 1000 levels"),
	"asks for another try without end": {
		settings: []string{"attack=callbacks", "kind=error", "answer=retry", "simple:failOn=create called"}, status: 1, made: 1,
		says: []string{"maximum number of error hook retries (100) reached"},
	},
	"invokes from its invoke transforms": {
		settings: []string{"attack=callbacks", "kind=invoke", "answer=recurse"}, env: []string{"GOMEMLIMIT=80MiB"}, status: 1, made: 1,
		says: []string{"there is too little memory for more resources"},
	},
	"registers from its transforms": {
		settings: []string{"attack=callbacks", "kind=stack", "answer=recurse"}, env: []string{"GOMEMLIMIT=80MiB"}, status: 1, made: 1,
		says: []string{"there is too little memory for more resources"},
	},
}

func callback(kind, answer string, presses, status, made int, says ...string) attack {
	return attack{
		settings: []string{"attack=callbacks", "kind=" + kind, "answer=" + answer, "depth=4000"}, presses: presses, status: status, made: made, says: says,
	}
}

var hostilePacks = map[string]attack{
	"dies at its start":              {pack: "start die", status: 1, says: []string{"exit status 3"}},
	"hangs at its start":             {pack: "start hang", presses: 1, status: 8, says: []string{"error: update cancelled"}},
	"dies in the handshake":          {pack: "handshake die", status: 1, says: []string{"ended unexpectedly (exit status 3)"}},
	"hangs in the handshake":         {pack: "handshake hang", presses: 1, status: 8, says: []string{"error: update cancelled"}},
	"dies when it is asked":          {pack: "info die", status: 1, says: []string{"ended unexpectedly (exit status 3)"}},
	"hangs when it is asked":         {pack: "info hang", presses: 1, status: 8, says: []string{"error: update cancelled"}},
	"hangs when it is configured":    {pack: "configure hang", presses: 1, status: 8},
	"has no name":                    {pack: "info nameless", made: 1, says: []string{"pack@v1.0.0"}},
	"dies in Remediate":              {pack: "remediate die", status: 1, says: []string{"ended unexpectedly (exit status 3)"}},
	"hangs in Remediate":             {pack: "remediate hang", presses: 1, status: 8},
	"remediates with an unknown":     {pack: "remediate unknown", status: 1, says: []string{"the value of the property x is not known"}},
	"remediates with a signature":    {pack: "remediate signature", status: 1, says: []string{"unrecognized signature"}},
	"remediates deeply":              {pack: "remediate deep", status: 1, says: []string{"nested deeper than 1000 levels"}},
	"copies a secret":                {pack: "remediate copy", made: 1},
	"tells a secret":                 {pack: "analyze tell", made: 1, says: []string{"the secret is [secret]"}},
	"dies in Analyze":                {pack: "analyze die", status: 1, says: []string{"ended unexpectedly (exit status 3)"}},
	"hangs in Analyze":               {pack: "analyze hang", presses: 1, status: 8},
	"ignores interrupts in Analyze":  {pack: "analyze stubborn", presses: 3, status: 8},
	"says that it is unavailable":    {pack: "analyze unavailable", status: 1, says: []string{"does not answer any more: come back later"}},
	"says that it was cancelled":     {pack: "analyze canceled", status: 1, says: []string{"failed to run policy"}},
	"has no Analyze":                 {pack: "analyze absent", status: 1, says: []string{"failed to run policy"}},
	"has a level that nobody knows":  {pack: "analyze level", status: 1, says: []string{"[mandatory]"}},
	"says too much":                  {pack: "analyze huge", status: 1, says: []string{"100.0 MiB in all"}},
	"refuses the stack":              {pack: "analyzestack violate", status: 1, made: 1, says: []string{"[mandatory]"}},
	"names a resource of others":     {pack: "analyzestack urn", made: 1, says: []string{"(pulumi:pulumi:Stack: demo-dev)"}},
	"dies in AnalyzeStack":           {pack: "analyzestack die", status: 1, made: 1, says: []string{"ended unexpectedly (exit status 3)"}},
	"hangs in AnalyzeStack":          {pack: "analyzestack hang", presses: 1, status: 8, made: 1},
	"has stack policies, no method":  {pack: "analyzestack absent", status: 1, made: 1, says: []string{"failed to analyze resources"}},
	"does not let itself be stopped": {pack: "cancel hang", made: 1},
}

// theSecret is the value of a secret setting, which the thing "made" has as its password.
const theSecret = "hunter2hunter2"

// However a program or a policy pack behaves, the update ends as expected, with Ctrl-C if it has to wait; existing objects
// are recorded; no secret is shown or written; and no lock and no process is left.
func TestHostileProgramsAndPolicyPacks(t *testing.T) {
	tier.Slow(t, "many real programs")
	t.Parallel()
	tools := filepath.Join(t.TempDir(), "tools")
	buildEngine(t, tools)
	build(t, tools+"/program", "./testdata/hostileprogram")
	build(t, tools+"/pulumi-analyzer-policy-hostile", "./testdata/hostilepack")
	for name, x := range hostilePrograms {
		t.Run("a program "+name, func(t *testing.T) { t.Parallel(); x.carryOut(t, tools) })
	}
	for name, x := range hostilePacks {
		t.Run("a pack "+name, func(t *testing.T) { t.Parallel(); x.settings = []string{"attack=none"}; x.carryOut(t, tools) })
	}
}

func (x attack) carryOut(t *testing.T, tools string) {
	a := newArenaWith(t, tools)
	settings := []string{"config", "set-all", "--secret", "password=" + theSecret}
	for _, s := range x.settings {
		settings = append(settings, "--plaintext", s)
	}
	a.run(0, settings...)
	a.env = append(a.env, x.env...)
	args := []string{"up", "--yes", "--skip-preview"}
	if x.pack != "" {
		folder := filepath.Join(a.dir, "pack")
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(folder+"/PulumiPolicy.yaml", []byte("runtime: hostile\n"), 0o644))
		a.env = append(a.env, "HOSTILE_PACK="+x.pack)
		args = append(args, "--policy-pack", folder)
	}
	text := a.press(x.presses, x.status, args...)
	for _, s := range x.says {
		require.Contains(t, text, s)
	}
	require.NotContains(t, text, "internal fault")
	require.Less(t, len(text), 1<<20)
	a.leavesNoSecret(text)
	a.leavesNoLock()
	recorded := a.state()
	require.Empty(t, recorded.pending)
	exists := a.cloud()
	require.Equal(t, exists, recorded.things)
	require.Len(t, exists, x.made, text)
	a.leavesNoProcess()
}

// press runs a command, presses Ctrl-C so many times after something hangs, each time when the command has reacted to the
// one before, requires the exit status and returns the output.
func (a *arena) press(presses, status int, args ...string) string {
	cmd, _ := a.command(args...)
	path := a.dir + "/output"
	out, err := os.Create(path)
	require.NoError(a, err)
	defer func() { _ = out.Close() }()
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(a, cmd.Start())
	cut := time.AfterFunc(patience, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer cut.Stop()
	output := func() string {
		text, err := os.ReadFile(path)
		require.NoError(a, err)
		return string(text)
	}
	for n := range presses {
		require.Eventually(a, func() bool {
			_, err := os.Stat(a.dir + "/hanging")
			return err == nil && strings.Count(output(), "^C received") == n
		}, patience, 10*time.Millisecond)
		require.NoError(a, cmd.Process.Signal(os.Interrupt), "press %d: %s", n+1, output())
	}
	_ = cmd.Wait() // the exit status is checked below
	require.Equal(a, status, cmd.ProcessState.ExitCode(), "%s", output())
	return output()
}

func (a *arena) leavesNoSecret(text string) {
	require.NotContains(a, text, theSecret)
	require.NoError(a, filepath.WalkDir(a.states.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		require.NotContains(a, string(content), theSecret, path)
		return err
	}))
}

func (a *arena) leavesNoLock() {
	found, err := filepath.Glob(a.states.dir + "/.pulumi/locks/*/*/*/*")
	require.NoError(a, err)
	require.Empty(a, found)
}

// leavesNoProcess requires that no process is left whose home is the arena. It finds none if the system has no /proc.
func (a *arena) leavesNoProcess() {
	require.Eventually(a, func() bool {
		found, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
		for _, path := range found {
			if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), "HOME="+a.dir+"\x00") {
				return false
			}
		}
		return true
	}, patience, 50*time.Millisecond)
}
