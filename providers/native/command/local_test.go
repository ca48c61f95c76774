//go:build unix

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/command"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

// log collects messages.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(m native.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, m.Text)
}

func localStack(t *testing.T) (*nativetest.Stack, *log, string) {
	l := &log{}
	dir := t.TempDir()
	o := native.Options{Directory: dir, Log: l.add}
	return nativetest.New(t, command.Package(o), "command:local:Command", o), l, dir
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, command.Package(native.Options{}), modules, "@pulumi/command")
}

func TestCommandsRunWhenTheResourceIsMadeChangedAndDeleted(t *testing.T) {
	s, _, dir := localStack(t)
	in := props("create", "echo made; echo oops >&2; echo create >> log", "update", `echo "$PULUMI_COMMAND_STDOUT+$X"; echo update >> log`,
		"delete", `echo "delete $PULUMI_COMMAND_STDOUT" >> log`, "environment", props("X", "1"))
	out := s.Create(in)
	require.Regexp(t, `^r[0-9a-f]{8}$`, s.ID)
	require.Equal(t, "made", out.At("stdout").AsString())
	require.Equal(t, "oops", out.At("stderr").AsString())
	s.RequireSame(in)
	s.RequireUnchanged()
	out = s.Update(in.With("environment", property.Of(props("X", "2"))))
	require.Equal(t, "made+2", out.At("stdout").AsString())
	require.NoError(t, s.Delete())
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	require.NoError(t, err)
	require.Equal(t, "create\nupdate\ndelete made+2\n", string(text))
}

func TestCreateStandsInForAMissingUpdate(t *testing.T) {
	s, _, _ := localStack(t)
	s.Create(props("create", "echo 1$PULUMI_COMMAND_STDOUT"))
	require.Equal(t, "21", s.Update(props("create", "echo 2$PULUMI_COMMAND_STDOUT")).At("stdout").AsString())
	in := props("create", "echo 3$PULUMI_COMMAND_STDOUT", "addPreviousOutputInEnv", false)
	require.Equal(t, "3", s.Update(in).At("stdout").AsString())
	require.NoError(t, s.Delete())

	out := s.Create(props("delete", "true"))
	require.Empty(t, out.At("stdout").AsString())
	require.True(t, out.At("stdout").IsString())
}

func TestTriggersReplace(t *testing.T) {
	s, _, _ := localStack(t)
	s.Create(props("create", "true", "triggers", []any{"a", 1}))
	s.RequireSame(props("create", "true", "triggers", []any{"a", 1}))
	s.RequireReplace(props("create", "true", "triggers", []any{"a", 2}), "triggers")
	s.RequireReplace(props("create", "true", "triggers", []any{"a", property.Computed()}), "triggers")
}

func TestNothingRunsInAPreview(t *testing.T) {
	s, _, dir := localStack(t)
	out := s.Preview(props("create", "touch made"))
	require.True(t, out.At("stdout").IsUnknown())
	require.Equal(t, "touch made", out.At("create").AsString())
	s.Create(props("create", "echo x"))
	require.True(t, s.PreviewUpdate(props("create", "touch made")).At("stdout").IsUnknown())
	require.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestOutputOfSecretsIsSecret(t *testing.T) {
	s, l, _ := localStack(t)
	in := props("create", "cat", "stdin", property.Secret(property.String("s3cret")))
	out := s.Create(in)
	require.True(t, out.At("stdout").IsSecret() && out.At("stderr").IsSecret())
	require.Equal(t, "s3cret", out.At("stdout").StripSecrets().AsString())
	require.Empty(t, l.lines)
	err := s.TryCreate(in.With("create", property.String("cat; exit 3")))
	require.ErrorContains(t, err, "exit status 3")
	require.NotContains(t, err.Error(), "s3cret")

	in = in.With("logging", property.String("stdout"))
	s.Create(in)
	require.Equal(t, []string{"s3cret"}, l.lines)
	require.ErrorContains(t, s.TryCreate(in.With("create", property.String("cat; exit 3"))), "s3cret")
}

func TestInterpreterAndDirectoryAreUsed(t *testing.T) {
	s, _, dir := localStack(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	out := s.Create(props("create", "pwd; echo $0", "dir", "sub", "interpreter", []string{"/bin/sh", "-e", "-c"}))
	require.True(t, strings.HasPrefix(out.At("stdout").AsString(), filepath.Join(dir, "sub")))
}

func TestOutputIsShownAsAsked(t *testing.T) {
	for logging, want := range map[string][]string{
		"": {"out", "err"}, "stdout": {"out"}, "stderr": {"err"}, "stdoutAndStderr": {"out", "err"}, "none": nil,
	} {
		s, l, _ := localStack(t)
		in := props("create", "echo out; printf err >&2")
		if logging != "" {
			in = in.With("logging", property.String(logging))
		}
		s.Create(in)
		require.ElementsMatch(t, want, l.lines, logging)
	}
	s, _, _ := localStack(t)
	require.Contains(t, s.Refused(props("logging", "all"))[0].Reason, "stdoutAndStderr")
}

func TestAssetsAreTheFilesThatThePatternsChoose(t *testing.T) {
	s, _, dir := localStack(t)
	make := "mkdir -p assets/logos src/deep; touch assets/logos/a.svg src/index.js src/secret.js src/deep/b.js c.txt"
	paths := []string{"assets/**", "src/**.js", "!**secret.*"}
	out := s.Create(props("create", make, "assetPaths", paths, "archivePaths", []string{"*.txt"}))
	assets := out.At("assets").AsMap()
	require.Equal(t, []string{"assets/logos/a.svg", "src/deep/b.js", "src/index.js"}, assets.Names())
	require.Equal(t, filepath.Join(dir, "src/index.js"), assets.At("src/index.js").AsAsset().Path)
	require.Equal(t, []string{"c.txt"}, out.At("archive").AsArchive().Members.Names())
}

func TestFailedCommandSaysWhatItWrote(t *testing.T) {
	s, _, _ := localStack(t)
	err := s.TryCreate(props("create", "echo hello; echo why >&2; exit 3"))
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "hello\n")
	require.ErrorContains(t, err, "why\n")
	require.Empty(t, s.ID)
}

func TestCancelEndsTheCommandWithItsChildren(t *testing.T) {
	s, _, dir := localStack(t)
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(200*time.Millisecond, cancel)
	defer stop.Stop()
	_, err := s.P.Create(ctx, providers.CreateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, Properties: props("create", "(sleep 10000; touch late) & wait"),
	})
	require.Error(t, err)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(dir, "late"))
}

func TestTimeoutEndsTheCommand(t *testing.T) {
	s, _, _ := localStack(t)
	_, err := s.P.Create(t.Context(), providers.CreateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, Properties: props("create", "sleep 300"), Timeout: 0.1,
	})
	require.ErrorContains(t, err, "it took longer than 100ms")
}

// Without that the next operation would run the command a second time, and nobody would know of the first one.
func TestTheOutcomeOfAnAbandonedCommandIsUnknown(t *testing.T) {
	const limit = 0.1
	commands := props("create", "sleep 300", "update", "sleep 300", "delete", "sleep 300")
	for name, call := range map[string]func(s *nativetest.Stack) error{
		"create": func(s *nativetest.Stack) error {
			_, err := s.P.Create(t.Context(), providers.CreateRequest{
				URN: s.URN(), Name: "r", Type: s.Type, Properties: commands, Timeout: limit,
			})
			return err
		},
		"update": func(s *nativetest.Stack) error {
			_, err := s.P.Update(t.Context(), providers.UpdateRequest{
				URN: s.URN(), Name: "r", Type: s.Type, ID: "r1", NewInputs: commands, Timeout: limit,
			})
			return err
		},
		"delete": func(s *nativetest.Stack) error {
			return s.P.Delete(t.Context(), providers.DeleteRequest{
				URN: s.URN(), Name: "r", Type: s.Type, ID: "r1", Inputs: commands, Outputs: commands, Timeout: limit,
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := localStack(t)
			var uncertain *providers.UncertainError
			require.ErrorAs(t, call(s), &uncertain)
			require.True(t, uncertain.Lost)
		})
	}
}

func TestACommandThatHasNotBegunHasDoneNothing(t *testing.T) {
	s, _, dir := localStack(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.P.Create(ctx, providers.CreateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, Properties: props("create", "touch made"),
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorAs(t, err, new(*providers.UncertainError))
	require.NoFileExists(t, filepath.Join(dir, "made"))
}

func TestRunIsAFunction(t *testing.T) {
	s, _, _ := localStack(t)
	out, err := s.Invoke("command:local:run", props("command", "echo $A", "environment", props("A", "b")))
	require.NoError(t, err)
	require.Equal(t, "b", out.At("stdout").AsString())
	require.Equal(t, "echo $A", out.At("command").AsString())
	_, err = s.Invoke("command:local:run", props("command", "exit 1"))
	require.ErrorContains(t, err, "exit status 1")
}
