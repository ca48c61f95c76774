package codegen

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/javasdk"
	"github.com/sluice-iac/sluice/testing/pythonsdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// typedPrograms are the golden programs whose SDK can be made from a schema.
var typedPrograms = map[string]string{"everything": "schema.json", "secrets": "schema.json", "unusual": "unusual.json"}

func schemaIn(t *testing.T, file string) *Schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	schema, err := ParseSchema(string(text))
	require.NoError(t, err)
	return schema
}

func TestPythonProgramsHaveTheTypesOfTheSDK(t *testing.T) {
	tier.Slow(t, "Python")
	t.Parallel()
	venv, err := pythonsdk.Install("../../testdata/typed")
	require.NoError(t, err)
	for name, schema := range typedPrograms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pythonStubs{t, schemaIn(t, schema), dir}.write()
			text, err := os.ReadFile(filepath.Join("testdata", name+".py"))
			require.NoError(t, err)
			check := func(text string) (string, error) {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "program.py"), []byte(text), 0o644))
				cmd := exec.Command(filepath.Join(venv, "bin", "python"), "-m", "mypy", "--strict", "--cache-dir", dir+"/cache", "program.py")
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			out, err := check(string(text))
			require.NoError(t, err, "%s", out)
			if name == "everything" { // the check finds mistakes
				out, err = check(strings.Replace(string(text), "days=3", `days="3"`, 1))
				require.Error(t, err)
				require.Contains(t, out, `Argument "days" to "RuleArgs" has incompatible type "str"`)
			}
		})
	}
}

func TestJavaProgramsCompile(t *testing.T) {
	tier.Slow(t, "Java")
	t.Parallel()
	classPath, err := javasdk.ClassPath("../../../../source/java/testdata/program", t.TempDir())
	if errors.Is(err, javasdk.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	for name, schema := range typedPrograms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			javaSDK{t, schemaIn(t, schema), filepath.Join(dir, "sdk")}.write()
			text, err := os.ReadFile(filepath.Join("testdata", name+".java"))
			require.NoError(t, err)
			program := filepath.Join(dir, "App.java")
			require.NoError(t, os.WriteFile(program, text, 0o644))
			arguments := append(javasdk.CompilerArguments(), "-nowarn", "-encoding", "US-ASCII", "-d", filepath.Join(dir, "classes"), "-cp", classPath, program)
			require.NoError(t, filepath.WalkDir(filepath.Join(dir, "sdk"), func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					arguments = append(arguments, path)
				}
				return err
			}))
			out, err := exec.Command("javac", arguments...).CombinedOutput()
			require.NoError(t, err, "%s", out)
		})
	}
}
