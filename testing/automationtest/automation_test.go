package automationtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/executable"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/pythonsdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// patience limits a test, which takes seconds on a quiet machine.
const patience = 5 * time.Minute

// toolsOf makes a folder with the command under the name pulumi, and with the plugin "simple".
func toolsOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, executable.BuildTests(t.Context(), filepath.Join(dir, "pulumi"), "../../cmd/sluice"), "its keys are cheap")
	require.NoError(t, executable.Build(t.Context(), filepath.Join(dir, "pulumi-resource-simple"), "../../providers/internal/pulumi-resource-simple"))
	return dir
}

// environment makes a backend and a home for a test, and returns their folder.
func environment(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "backend"), 0o700))
	t.Setenv("PATH", toolsOf(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("PULUMI_HOME", filepath.Join(dir, "home"))
	t.Setenv("PULUMI_BACKEND_URL", "file://"+filepath.Join(dir, "backend"))
	t.Setenv("PULUMI_CONFIG_PASSPHRASE", "correct horse")
	t.Setenv("PULUMI_ACCESS_TOKEN", "")
	local := filepath.Join(dir, "local")
	require.NoError(t, os.Mkdir(local, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(local, "Pulumi.yaml"), []byte(localProgram), 0o600))
	return dir
}

// localProgram is a program in a folder.
const localProgram = `name: local
runtime: yaml
variables:
  greeting: hello
outputs:
  greeting: ${greeting}
`

// run runs a program that uses the Automation API in an environment, and shows its output if it fails.
func run(t *testing.T, dir, executable string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, append(args, dir)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "all of it works\n", "the program has come to its end")
}

// program returns the path of a program in testdata.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	require.NoError(t, err)
	return path
}

func TestProgramsInNodeJSDriveTheAutomationAPI(t *testing.T) {
	tier.Slow(t, "Node.js")
	dir := environment(t)
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	require.NoError(t, os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(dir, "node_modules")))
	text, err := os.ReadFile(program(t, "automation.js"))
	require.NoError(t, err)
	inline := filepath.Join(dir, "automation.js") // beside the packages that it requires
	require.NoError(t, os.WriteFile(inline, text, 0o600))
	run(t, dir, "node", inline)
}

func TestProgramsInPythonDriveTheAutomationAPI(t *testing.T) {
	tier.Slow(t, "Python")
	dir := environment(t)
	venv, err := pythonsdk.Install("../../source/python/testdata/program")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "%v", err)
		t.Skip("the Automation API of Python is not tested: " + err.Error())
	}
	run(t, dir, filepath.Join(venv, "bin", "python"), program(t, "automation.py"))
}
