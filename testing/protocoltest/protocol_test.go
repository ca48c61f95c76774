package protocoltest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/testing/executable"
)

var record = flag.Bool("record", false, "write the goldens, with the command in the variable PEER")

// patience limits a command, which takes a second on a quiet machine.
const patience = 2 * time.Minute

// TestMain makes the plugins available: a link to this binary with their names is one.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "pulumi-language-probe":
		serveLanguage()
	case "pulumi-resource-probe":
		serveProvider()
	default:
		os.Exit(m.Run())
	}
}

// TestProtocol runs each scenario with sluice, and compares its outcomes with the golden.
func TestProtocol(t *testing.T) {
	t.Parallel()
	command := os.Getenv("PEER")
	tools := t.TempDir()
	if !*record {
		command = filepath.Join(tools, "sluice")
		require.NoError(t, executable.BuildTests(t.Context(), command, "../../cmd/sluice"), "its keys are cheap; hundreds of real ones cost more than the rest")
	}
	require.NotEmpty(t, command, "PEER is to be the path of Pulumi's command")
	self, err := os.Executable()
	require.NoError(t, err)
	for _, name := range []string{"pulumi-language-probe", "pulumi-resource-probe"} {
		require.NoError(t, executable.Link(self, filepath.Join(tools, name+suffix())))
	}
	accepted := readAccepted(t)
	for name := range accepted {
		require.True(t, name == everywhere || scenarios(t)[name] != "", "testdata/accept.yaml names a scenario that is not there: %s", name)
	}
	for name, path := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, command, tools)
			var got []outcome
			s := readScenario(t, path)
			for i := range s.Steps {
				got = append(got, r.step(i, s.Steps[i]))
			}
			golden := filepath.Join("testdata", "golden", name+".json")
			if *record {
				require.NoError(t, os.WriteFile(golden, indented(t, got), 0o644))
				return
			}
			compare(t, golden, got, accepted[name], accepted[everywhere])
		})
	}
}

func suffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	require.NoError(t, enc.Encode(v))
	return b.Bytes()
}

// run is a stack in a folder of its own.
type run struct {
	t       *testing.T
	command string
	dir     string
	env     []string
}

func newRun(t *testing.T, command, tools string) *run {
	t.Helper()
	r := &run{t: t, command: command, dir: t.TempDir()}
	for _, name := range []string{"backend", "project", "home"} {
		require.NoError(t, os.Mkdir(filepath.Join(r.dir, name), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "project", "Pulumi.yaml"), []byte("name: probe\nruntime: probe\n"), 0o600))
	r.env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PULUMI_") || strings.HasPrefix(v, "SLUICE_")
	}), folder+"="+r.dir, "PULUMI_HOME="+filepath.Join(r.dir, "home"), "PULUMI_BACKEND_URL="+fileURL(filepath.Join(r.dir, "backend")),
		"PULUMI_CONFIG_PASSPHRASE=correct horse", "PULUMI_SKIP_UPDATE_CHECK=true", "PULUMI_DEBUG_COMMANDS=true", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION=true",
		"PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS=true", "HOME="+r.dir, "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.must("stack", "init", "dev")
	return r
}

// execute runs a command, and returns its status and its output.
func (r *run) execute(args ...string) (int, string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.command, append([]string{"-C", filepath.Join(r.dir, "project")}, args...)...)
	cmd.Env = r.env
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.Exited() {
		return ended.ExitCode(), string(out)
	}
	require.NoError(r.t, err, "%s\n%s", args, out)
	return 0, string(out)
}

func (r *run) must(args ...string) {
	r.t.Helper()
	status, out := r.execute(args...)
	require.Zero(r.t, status, "%s\n%s", args, out)
}

// put writes a file for the plugins.
func (r *run) put(name string, v any) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, name), indented(r.t, v), 0o600))
}

func (r *run) step(number int, s step) outcome {
	r.t.Helper()
	if s.Program != nil || number == 0 {
		r.put("program.json", s.Program)
	}
	r.put("behavior.json", append([]behavior{}, s.Provider...))
	for _, key := range slices.Sorted(maps.Keys(s.Config)) {
		r.must("config", "set", key, s.Config[key], "--stack", "dev", "--plaintext")
	}
	for _, name := range []string{"program.jsonl", "calls.jsonl", "errors.log", "events.jsonl"} {
		require.NoError(r.t, os.RemoveAll(filepath.Join(r.dir, name)))
	}
	events := filepath.Join(r.dir, "events.jsonl")
	args := []string{s.Op, "--stack", "dev", "--non-interactive", "--event-log", events}
	if s.Op != "preview" {
		args = append(args, "--yes", "--skip-preview")
	}
	status, out := r.execute(append(args, s.Flags...)...)
	problems, _ := os.ReadFile(filepath.Join(r.dir, "errors.log"))
	if s.Expect != "" {
		require.Equal(r.t, s.Expect == "ok", status == 0, "step %d: %s\n%s", number, out, problems)
	}
	if testing.Verbose() {
		r.t.Logf("step %d\n%s%s", number, out, problems)
	}
	if status != 0 && status != awaiting {
		status = 1
	}
	o := outcome{Op: s.Op, Status: status, Program: r.lines("program.jsonl"), Calls: r.lines("calls.jsonl"), Failed: r.failed(), State: r.state()}
	slices.SortFunc(o.Calls, func(a, b map[string]any) int { return strings.Compare(textOf(a), textOf(b)) })
	o.Calls = slices.CompactFunc(o.Calls, func(a, b map[string]any) bool { return oncePerProcess[a["method"].(string)] && textOf(a) == textOf(b) })
	return o
}

// awaiting is the status of a command that failed only because providers could not wait for what they do.
const awaiting = 10

// oncePerProcess are the calls of which only different ones count: how often an engine starts a provider is its own business.
var oncePerProcess = map[string]bool{"Handshake": true, "CheckConfig": true, "DiffConfig": true, "Configure": true}

func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// lines reads what a plugin has noted.
func (r *run) lines(name string) []map[string]any {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(r.t, err)
	var out []map[string]any
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var entry map[string]any
		require.NoError(r.t, json.Unmarshal(lines.Bytes(), &entry))
		out = append(out, entry)
	}
	return out
}

// failed returns the events of steps that failed.
func (r *run) failed() []map[string]any {
	r.t.Helper()
	var out []map[string]any
	for _, line := range r.lines("events.jsonl") {
		event, is := line["resOpFailedEvent"].(map[string]any)
		if !is {
			continue
		}
		step, _ := event["metadata"].(map[string]any)
		out = append(out, map[string]any{"op": step["op"], "urn": shorten(step["urn"]), "awaited": event["awaited"] == true})
	}
	return out
}

// state exports the state: its resources by their URNs.
func (r *run) state() map[string]any {
	r.t.Helper()
	file := filepath.Join(r.dir, "export.json")
	r.must("stack", "export", "--stack", "dev", "--show-secrets", "--file", file)
	text, err := os.ReadFile(file)
	require.NoError(r.t, err)
	var export struct {
		Features   []any
		Deployment struct{ Resources []map[string]any }
	}
	require.NoError(r.t, json.Unmarshal(text, &export))
	out := map[string]any{}
	for _, resource := range export.Deployment.Resources {
		urn := shorten(resource["urn"]).(string)
		delete(resource, "urn")
		for _, taken := out[urn]; taken; _, taken = out[urn] {
			urn += " (another)"
		}
		out[urn] = shorten(resource)
	}
	if len(export.Features) > 0 {
		out["features"] = export.Features
	}
	return out
}

// everywhere is the name of the differences that all scenarios may have.
const everywhere = "*"

// difference is one that is meant.
type difference struct {
	Step   int    `yaml:"step"`   // not used for those that all scenarios may have
	Match  string `yaml:"match"`  // a regular expression of the line, without its step
	Reason string `yaml:"reason"` // why, with the decision
}

func readAccepted(t *testing.T) map[string][]difference {
	t.Helper()
	text, err := os.ReadFile("testdata/accept.yaml")
	require.NoError(t, err)
	var all map[string][]difference
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	require.NoError(t, dec.Decode(&all))
	for name, differences := range all {
		for _, d := range differences {
			require.NotEmpty(t, d.Reason, name)
			require.NotEmpty(t, d.Match, name)
		}
	}
	return all
}

// compare reports each line that only the golden or only the outcome has, unless the difference is meant, and each meant difference that
// is none, except those that all scenarios may have.
func compare(t *testing.T, golden string, got []outcome, meant, always []difference) {
	t.Helper()
	text, err := os.ReadFile(golden)
	require.NoError(t, err, "record it")
	var want []outcome
	require.NoError(t, json.Unmarshal(text, &want))
	require.Len(t, got, len(want))
	used := make([]bool, len(meant))
	for i := range want {
		for _, line := range differing(want[i].lines(i), got[i].lines(i)) {
			found := slices.ContainsFunc(always, func(d difference) bool { return regexp.MustCompile(d.Match).MatchString(line) })
			for j, d := range meant {
				if d.Step == i && regexp.MustCompile(d.Match).MatchString(line) {
					found, used[j] = true, true
				}
			}
			if !found {
				t.Errorf("%s", line)
			}
		}
	}
	for j, d := range meant {
		if !used[j] {
			t.Errorf("testdata/accept.yaml accepts a difference that is not there: step %d, %s", d.Step, d.Match)
		}
	}
}

// differing returns the lines that only want has, marked "-", and those that only got has, marked "+".
func differing(want, got []string) []string {
	count := map[string]int{}
	for _, line := range want {
		count["- "+line]++
	}
	for _, line := range got {
		if count["- "+line] > 0 {
			count["- "+line]--
		} else {
			count["+ "+line]++
		}
	}
	var out []string
	for line, n := range count {
		for range n {
			out = append(out, line)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(a[2:]+a, b[2:]+b) })
	return out
}
