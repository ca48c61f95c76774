package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/testsuite"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return root
}

func TestTheDigestIsOfTheProgramAlone(t *testing.T) {
	base := map[string]string{"app/Pulumi.yaml": "name: a", "app/src/main.py": "x"}
	of := func(more map[string]string, version string) string {
		files := map[string]string{}
		for _, m := range []map[string]string{base, more} {
			for name, text := range m {
				files[name] = text
			}
		}
		root := folder(t, files)
		d, err := programDigest(filepath.Join(root, "app"), root, version)
		require.NoError(t, err)
		return d
	}
	same := of(nil, "v1")
	require.Equal(t, same, of(map[string]string{
		"app/Pulumi.dev.yaml": "config: {}", "app/node_modules/a/index.js": "x", "app/venv/lib.py": "x", "other/file": "x", "app/src/__pycache__/a.pyc": "x",
	}, "v1"))
	for name, more := range map[string]map[string]string{
		"a file changes": {"app/src/main.py": "y"}, "a file is added": {"app/src/more.py": "x"}, "the project changes": {"app/Pulumi.yaml": "name: b"},
	} {
		require.NotEqual(t, same, of(more, "v1"), name)
	}
	require.NotEqual(t, same, of(nil, "v2"), "another version of sluice")

	ignoring := of(map[string]string{".gitignore": "*.log\n/app/out/\n", "app/.gitignore": "local.txt\n"}, "v1")
	require.Equal(t, ignoring, of(map[string]string{
		".gitignore": "*.log\n/app/out/\n", "app/.gitignore": "local.txt\n", "app/a.log": "x", "app/out/file": "x", "app/src/local.txt": "x",
	}, "v1"))
}

func TestARecordSaysWhatHasChangedSince(t *testing.T) {
	was := record{"p", "c", "i", "s"}
	require.Equal(t, was, readRecord(was.String()))
	require.Empty(t, was.since(was))
	require.Equal(t, "the program and what is recorded changed since its last update", was.since(record{"q", "c", "i", "t"}))
	require.Equal(t, "the outputs that it reads changed since its last update", record{"p", "c", "", "s"}.since(record{"p", "c", "", "s"}), "what is not known may have changed")
	require.Equal(t, "the fleet had not updated it before", readRecord("of another form").since(was))
}

func TestFailuresAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		errors []string
		want   run.Kind
	}{
		"a lock":                  {statusLocked, nil, run.Locked},
		"a wrong project":         {statusUsage, nil, run.Program},
		"a signal":                {-1, nil, run.Lost},
		"a program":               {1, []string{"the program failed"}, run.Program},
		"sim":                     {1, []string{"throttled: try again in 3ms"}, run.Throttled},
		"AWS":                     {1, []string{"operation error EC2: api error RequestLimitExceeded: Request limit exceeded."}, run.Throttled},
		"S3":                      {1, []string{"SlowDown: Please reduce your request rate"}, run.Throttled},
		"Azure":                   {1, []string{"StatusCode: 429, TooManyRequests"}, run.Throttled},
		"Google":                  {1, []string{"googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded"}, run.Throttled},
		"gRPC":                    {1, []string{"rpc error: code = ResourceExhausted"}, run.Throttled},
		"a port of 429":           {1, []string{"listen on port 4290"}, run.Program},
		"a quota that is used up": {1, []string{"you have no quota for this"}, run.Program},
	} {
		require.Equal(t, c.want, kindOf(ended{status: c.status, events: &follower{errors: c.errors}}), name)
	}
}

func TestRetriesDependOnTheKind(t *testing.T) {
	_, retry := again(run.Program, 1)
	require.False(t, retry)
	_, retry = again(run.Interrupted, 1)
	require.False(t, retry)
	pause, retry := again(run.Locked, 3)
	require.True(t, retry)
	require.Equal(t, 4*time.Second, pause)
	waited := time.Duration(0)
	for attempt := int32(1); ; attempt++ {
		pause, retry := again(run.Locked, attempt)
		if !retry {
			break
		}
		waited += pause
	}
	require.InDelta(t, time.Hour, waited, float64(time.Minute))
	pause, retry = again(run.Throttled, 7)
	require.True(t, retry)
	require.Equal(t, 5*time.Minute, pause)
	_, retry = again(run.Throttled, 8)
	require.False(t, retry)
	_, retry = again(run.Setup, 1)
	require.True(t, retry, "another worker may have what this one lacks")
	_, retry = again(run.Setup, 4)
	require.False(t, retry)
}

func TestEventsAreFollowedWhileTheyAreWritten(t *testing.T) {
	f := &follower{path: filepath.Join(t.TempDir(), "events")}
	require.NoError(t, f.follow(), "nothing is written yet")
	write := func(text string) {
		t.Helper()
		file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = file.WriteString(text)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.NoError(t, f.follow())
	}
	write(`{"resourcePreEvent":{"metadata":{"op":"read","urn":"urn:pulumi:dev::a::pulumi:pulumi:StackReference::net","type":"pulumi:pulumi:StackReference","new":{"id":"x","inputs":{"name":"organization/net/dev"}}}}}` + "\n" + `{"resOut`)
	require.Equal(t, run.Progress{Running: 1, Last: "read net"}, f.progress)
	require.Equal(t, []string{"organization/net/dev"}, f.reads)
	write(`putsEvent":{"metadata":{"op":"read"}}}` + "\nnonsense\n" + `{"diagnosticEvent":{"severity":"error","message":"broken\n"}}` + "\n" + `{"summaryEvent":{"resourceChanges":{"create":2}}}` + "\n")
	require.Equal(t, run.Progress{Done: 1, Last: "read net"}, f.progress)
	require.Equal(t, []string{"broken"}, f.errors)
	require.Equal(t, map[string]int{"create": 2}, f.changes)
}

func TestAStateIsRead(t *testing.T) {
	is, err := parse(strings.NewReader(`{"deployment":{"resources":[
		{"type":"pulumi:pulumi:Stack","outputs":{"a":1}},
		{"type":"pulumi:pulumi:StackReference","id":"organization/net/dev","inputs":{"name":"organization/net/dev"}},
		{"type":"other","inputs":{"name":{"first":"x"}}}],"pending_operations":[{}]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"organization/net/dev"}, is.reads)
	require.Equal(t, 3, is.resources)
	require.Equal(t, 1, is.pending)
	other, err := parse(strings.NewReader(`{"deployment":{"resources":[{"type":"pulumi:pulumi:Stack","outputs":{"a":2}}]}}`))
	require.NoError(t, err)
	require.NotEqual(t, is.outputs, other.outputs)
	require.NotEqual(t, is.fingerprint, other.fingerprint)
	_, err = parse(strings.NewReader("nothing"))
	require.ErrorContains(t, err, "the state is not understood")
}

func TestOldLogsAreRemoved(t *testing.T) {
	root := folder(t, nil)
	h, err := server.HomeOf(root)
	require.NoError(t, err)
	require.NoError(t, Prune(h, time.Now()), "there is none")
	now := time.Now()
	for name, at := range map[string]time.Time{"old": now.Add(-48 * time.Hour), "new": now} {
		path := LogPath(h, name, "app")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
		require.NoError(t, os.Chtimes(filepath.Dir(path), now.Add(-72*time.Hour), now.Add(-72*time.Hour)))
	}
	require.NoError(t, Prune(h, now.Add(-24*time.Hour)))
	require.NoDirExists(t, h.Path("runs", "old"))
	require.FileExists(t, LogPath(h, "new", "app"))
}

func TestAStackGetsTheVariablesOfItsGroupAlone(t *testing.T) {
	root := folder(t, map[string]string{
		"net/Pulumi.yaml": "name: net", "web/Pulumi.yaml": "name: web",
		"fleet.yaml": "name: shop\ngroups:\n  base: {environment: [SHOP_*]}\n  apps: {environment: [TOKEN, SLUICE_CONFIG_PASSPHRASE]}\n" +
			"stacks:\n  net: {directory: net, stack: dev, group: base}\n  web: {directory: web, stack: dev, group: apps}\n",
	})
	f, err := spec.Read(filepath.Join(root, "fleet.yaml"), nil)
	require.NoError(t, err)
	for name, value := range map[string]string{
		"SHOP_KEY": "1", "TOKEN": "2", "TOKEN_2": "3", "SLUICE_CONFIG_PASSPHRASE": "4", "PULUMI_CONFIG_PASSPHRASE": "4", "SLUICE_FLEET_KEY": "5",
	} {
		t.Setenv(name, value)
	}
	s := &sluice{fleet: f}
	got := func(stack string) []string {
		var out []string
		for _, entry := range s.environment(stack) {
			name, _, _ := strings.Cut(entry, "=")
			if strings.HasPrefix(name, "SHOP_") || strings.HasPrefix(name, "TOKEN") || strings.Contains(name, "PASSPHRASE") || strings.HasPrefix(name, "SLUICE_FLEET") {
				out = append(out, name)
			}
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, []string{"SHOP_KEY", "TOKEN_2"}, got("net"))
	require.Equal(t, []string{"PULUMI_CONFIG_PASSPHRASE", "SLUICE_CONFIG_PASSPHRASE", "TOKEN", "TOKEN_2"}, got("web"))
	require.Equal(t, []string{"TOKEN_2"}, got("a stack that this machine's fleet.yaml does not have"))
}

func TestASurveyGoesOnWhereAnotherWorkerHasEnded(t *testing.T) {
	root := folder(t, map[string]string{
		"net/Pulumi.yaml": "name: net", "web/Pulumi.yaml": "name: web",
		"sluice":     "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/asked\"\nexit 6\n",
		"fleet.yaml": "name: shop\nstacks:\n  net: {directory: net, stack: dev}\n  web: {directory: web, stack: dev}\n",
	})
	require.NoError(t, os.Chmod(filepath.Join(root, "sluice"), 0o700))
	f, err := spec.Read(filepath.Join(root, "fleet.yaml"), nil)
	require.NoError(t, err)
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	w := newWorker(f, server.Home{}, filepath.Join(root, "sluice"), nil)
	env.RegisterActivity(w.Survey)
	const attempt = "default-test-run-id" // of the environment
	before := run.Surveyed{Outputs: "what the other one has found", Attempt: attempt}
	env.SetHeartbeatDetails(map[string]run.Surveyed{"net": before, "web": {Outputs: "of another run", Attempt: "another"}})
	answer, err := env.ExecuteActivity(w.Survey, run.Survey{Stacks: f.Stacks, Attempt: attempt})
	require.NoError(t, err)
	found := map[string]run.Surveyed{}
	require.NoError(t, answer.Get(&found))
	require.Equal(t, before, found["net"])
	require.Equal(t, "web", found["web"].Project)
	asked, err := os.ReadFile(filepath.Join(root, "asked"))
	require.NoError(t, err)
	require.NotContains(t, string(asked), "/net")
}
