package yaml_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/source/yaml"
	"github.com/sluice-iac/sluice/stages"
)

// programOf returns a program with a text in Main.yaml.
func programOf(t testing.TB, text string, host providers.Host) *yaml.Program {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Main.yaml"), []byte(text), 0o644))
	return yaml.New(source.Project{Runtime: "yaml", Root: dir, Directory: dir}, yaml.Options{Providers: host})
}

func newMonitor() *monitortest.Monitor {
	return &monitortest.Monitor{Run: stages.RunInfo{Organization: "org", Project: "proj", Stack: "dev"}}
}

func TestIndependentResourcesAreRegisteredAtOnce(t *testing.T) {
	p := programOf(t, `
resources:
  a: {type: "p:m:T"}
  b: {type: "p:m:T"}
  c: {type: "p:m:T", properties: {v: "${a.id}"}}
  d: {type: "p:m:T", properties: {v: "${b.id}"}}
  e: {type: "p:m:T", properties: {v: "${c.id}${d.id}"}}
variables:
  f: {fn::p:echo: {}}
`, nil)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := newMonitor()
		m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
			time.Sleep(time.Second)
			return m.Accept(req), nil
		}
		m.OnInvoke = func(_ context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
			time.Sleep(time.Second)
			return &stages.InvokeReply{Return: req.Args}, nil
		}
		require.NoError(t, p.Run(t.Context(), source.Host{Monitor: m}))
		require.Equal(t, 4*time.Second, time.Since(began), "the stack, a with b and f, c with d, e")
	})
}

func TestMistakesAreReportedInTheOrderOfTheFileWhateverComesFirst(t *testing.T) {
	var text strings.Builder
	text.WriteString("variables:\n")
	for i := range 20 {
		fmt.Fprintf(&text, "  v%d: {fn::p:broken%d: {}}\n", i, i)
	}
	for seed := range 5 {
		synctest.Test(t, func(t *testing.T) {
			m := newMonitor()
			m.OnInvoke = func(_ context.Context, req *stages.InvokeRequest) (*stages.InvokeReply, error) {
				time.Sleep(time.Duration((len(req.Token)*7+int(req.Token[len(req.Token)-1])*(seed+3))%11) * time.Millisecond)
				return nil, fmt.Errorf("%s is broken", req.Token)
			}
			require.ErrorIs(t, programOf(t, text.String(), nil).Run(t.Context(), source.Host{Monitor: m}), source.ErrReported)
			logs := m.Record().Logs
			require.Len(t, logs, 20)
			for i, l := range logs {
				require.Contains(t, l.Message, fmt.Sprintf("Main.yaml:%d:", i+2))
				require.Contains(t, l.Message, fmt.Sprintf(": p:index:broken%d is broken\n", i))
			}
		})
	}
}

func TestASchemaIsAskedForOnceAndItsProviderEnded(t *testing.T) {
	var mu sync.Mutex
	loaded, closed := 0, 0
	host := providers.HostFunc(func(_ context.Context, spec providers.Spec) (providers.Provider, error) {
		mu.Lock()
		defer mu.Unlock()
		loaded++
		fake := providertest.NewFake(spec.Package)
		fake.OnClose = func() error {
			mu.Lock()
			defer mu.Unlock()
			closed++
			return nil
		}
		return fake, nil
	})
	p := programOf(t, "resources:\n  a: {type: \"p:m:T\"}\n  b: {type: \"p:m:U\"}\n  c: {type: \"pulumi:providers:p\"}\n", host)
	for range 2 { // an update previews first
		require.NoError(t, p.Run(t.Context(), source.Host{Monitor: newMonitor()}))
	}
	require.Equal(t, [2]int{1, 1}, [2]int{loaded, closed})
}

func TestNothingMoreIsRegisteredAfterTheMonitorShutDown(t *testing.T) {
	p := programOf(t, "resources:\n  a: {type: \"p:m:T\"}\n  b: {type: \"p:m:T\", properties: {v: \"${a.id}\"}}\n  c: {type: \"p:m:T\", options: {dependsOn: [\"${b}\"]}}\n", nil)
	m := newMonitor()
	m.OnRegister = func(_ context.Context, req *stages.RegisterRequest) (*stages.RegisterReply, error) {
		if req.Name == "b" {
			return nil, stages.ErrShutDown
		}
		return m.Accept(req), nil
	}
	require.ErrorIs(t, p.Run(t.Context(), source.Host{Monitor: m}), stages.ErrShutDown)
	r := m.Record()
	require.Len(t, r.Registered, 3, "the stack, a and b")
	require.Empty(t, r.Logs)
	require.Empty(t, r.Outputs)
}

func TestAnInvalidProgramHasNoPackages(t *testing.T) {
	_, err := programOf(t, "resources: [\n", nil).Packages(t.Context())
	var invalid *yaml.ProgramError
	require.ErrorAs(t, err, &invalid)
	require.Contains(t, invalid.Text, "Main.yaml:1:12: this is not YAML")
}

// seeds adds the programs of the corpus.
func seeds(f *testing.F) {
	for _, dir := range []string{"corpus", "mistakes"} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		require.NoError(f, err)
		for _, path := range paths {
			s := openSession(f, path)
			if len(s.archive.Files) > 0 {
				f.Add(string(s.archive.Files[0].Data), s.run.Preview)
			}
		}
	}
	f.Add("variables: {a: "+strings.Repeat("[", 9_000), true) // above that, the YAML library has a limit of its own
	f.Add("variables:\n  a: ${a"+strings.Repeat("[0", 5_000), true)
	f.Add("variables:\n  a: "+strings.Repeat("{fn::toJSON: ", 12)+"x"+strings.Repeat("}", 12), true)
}

// filesRead matches the functions that a fuzzer must not call: there are files without an end.
var filesRead = regexp.MustCompile(`(?i)readfile|filebase64(sha256)?`)

// FuzzProgram runs any program. It must end without a panic, and either report mistakes or evaluate everything. A second run must report
// the same.
func FuzzProgram(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string, preview bool) {
		p := programOf(t, filesRead.ReplaceAllString(text, "sha1"), nil)
		said := func() string {
			m := newMonitor()
			m.Run.DryRun = preview
			err := p.Run(t.Context(), source.Host{Monitor: m})
			r := m.Record()
			errors := 0
			for _, l := range r.Logs {
				if l.Severity == stages.Error {
					errors++
				}
			}
			if (err != nil) != (errors > 0) {
				t.Fatalf("the program ended with %v and reported %d errors", err, errors)
			}
			return describeRecord(r)
		}
		first, second := said(), said()
		if first != second {
			t.Fatalf("two runs differ:\n%s\n%s", first, second)
		}
	})
}

func TestAProgramInOneLineIsReadAndItsMistakesAreShown(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"resources": {`)
	for i := range 5_000 {
		fmt.Fprintf(&text, `"ä%d": {"type": "p:m:T", "properties": {"v": "x${pulumi.stack}", "w": ["${ü%d}"]}}, `, i, i)
	}
	text.WriteString(`"last": {"type": "p:m:T"}}}`)
	m := newMonitor()
	p := programOf(t, text.String(), nil)
	require.ErrorIs(t, p.Run(t.Context(), source.Host{Monitor: m}), source.ErrReported)
	logs := m.Record().Logs
	require.Len(t, logs, 101)
	require.Contains(t, logs[0].Message, "\n   1 | …")
	require.Less(t, len(logs[0].Message), 500)
	require.Contains(t, logs[0].Message, "${ü0}")
	require.Contains(t, logs[100].Message, "4900 more are not shown")
}
