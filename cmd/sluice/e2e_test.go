package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/testing/executable"
	"github.com/sluice-iac/sluice/testing/javasdk"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/pythonsdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// TestEndToEnd runs the scripts in testdata/e2e with real programs in Go and YAML, and with the plugin "simple", a process that is found on PATH.
// The objects of that plugin are in the directory in the setting simple:directory.
//
// $GOPROGRAM is a built Go program, whose source is testdata/goprogram, and $GOPOLICIES a built policy pack.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	testscript.Run(t, realPrograms(t, "testdata/e2e"))
}

// TestOtherLanguages runs the scripts in testdata/languages with real programs that use the SDKs for Node.js, Python and Java, too.
//
// A script links the SDK for Node.js by `symlink node_modules -> $NODE_MODULES`, and a virtual environment with that for Python by
// `symlink venv -> $PYTHON_VENV`, or one with packages of resources and a type checker by `symlink venv -> $TYPED_VENV`.
// $OLD_NODE_MODULES and $OLD_PYTHON_VENV have old SDKs, and $OLD_GO is the source of a program with one.
// `exec cp -R $LEAN_TYPES/. FOLDER` gives a component in TypeScript a configuration without the types of Node.js and browsers, because the SDK reads
// all types at each start of a component. Some scripts do without, like most users.
// $GOCOMPONENT is a built plugin with a component, whose source is in $GOCOMPONENT_SOURCE.
//
// The node of scripts is the newest one that is installed, and keeps what it has compiled, so that a program starts in two thirds of the time. Scripts
// about what programs, components, dynamic providers and package managers can do have `env PATH=$INSTALLED_PATH`, with the node on PATH, which may be an older one.
//
// A program in JavaScript has the runtime option `typescript: false`, unless its script is about the compiler, which would cost as much as the program.
func TestOtherLanguages(t *testing.T) {
	tier.Slow(t, "Node.js, Python and Java")
	t.Parallel()
	modules, err := filepath.Abs("../../source/nodejs/testdata/program")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(modules))
	venv, err := pythonsdk.Install("../../source/python/testdata/program")
	require.NoError(t, err)
	typed, err := pythonsdk.Install("testdata/typed")
	require.NoError(t, err)
	oldModules, err := filepath.Abs("testdata/oldnode")
	require.NoError(t, err)
	require.NoError(t, nodesdk.Install(oldModules))
	oldVenv, err := pythonsdk.Install("testdata/oldpython")
	require.NoError(t, err)
	downloadJavaSDK(t)
	tools := t.TempDir()
	build(t, tools+"/component", "./testdata/gocomponent")
	lean, err := filepath.Abs("testdata/leantypes")
	require.NoError(t, err)
	component, err := filepath.Abs("testdata/gocomponent")
	require.NoError(t, err)
	oldGo, err := filepath.Abs("testdata/oldgo")
	require.NoError(t, err)

	p := realPrograms(t, "testdata/languages")
	newest, err := nodesdk.Newest(t.TempDir())
	require.NoError(t, err)
	compiled, err := nodesdk.Compiled(newest, modules, t.TempDir())
	require.NoError(t, err)
	stripping := strips(t, newest)
	p.Condition = func(name string) (bool, error) {
		if name != "strips" {
			return false, fmt.Errorf("unknown condition %q", name)
		}
		return stripping, nil
	}
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("PYTHON_VENV", venv)
		e.Setenv("TYPED_VENV", typed)
		e.Setenv("NODE_MODULES", filepath.Join(modules, "node_modules"))
		e.Setenv("OLD_NODE_MODULES", filepath.Join(oldModules, "node_modules"))
		e.Setenv("OLD_PYTHON_VENV", oldVenv)
		e.Setenv("OLD_GO", oldGo)
		e.Setenv("LEAN_TYPES", lean)
		e.Vars = append(e.Vars, javasdk.Variables()...)
		e.Vars = append(e.Vars, compiled)
		e.Setenv("PULUMI_NODEJS_TRANSPILE_ONLY", "true") // otherwise TypeScript would check the SDK's types in each process
		e.Setenv("GOCOMPONENT", tools+"/component")
		e.Setenv("GOCOMPONENT_SOURCE", component)
		if err := setup(e); err != nil {
			return err
		}
		e.Setenv("INSTALLED_PATH", e.Getenv("PATH"))
		if newest != "" {
			e.Setenv("PATH", newest+string(os.PathListSeparator)+e.Getenv("PATH"))
		}
		return nil
	}
	testscript.Run(t, p)
}

// realPrograms returns the parameters of scripts that run real programs and plugins.
func realPrograms(t *testing.T, dir string) testscript.Params {
	t.Helper()
	tools := t.TempDir()
	build(t, tools+"/pulumi-resource-simple", "../../providers/internal/pulumi-resource-simple")
	build(t, tools+"/program", "./testdata/goprogram")
	build(t, tools+"/policies", "./testdata/gopolicies")
	caches := goCaches(t)
	p := scripts(dir)
	setup := p.Setup
	p.Setup = func(e *testscript.Env) error {
		e.Setenv("GOPROGRAM", tools+"/program")
		e.Setenv("GOPOLICIES", tools+"/policies")
		e.Vars = append(e.Vars, caches...)
		for _, name := range []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"} { // the certificate authorities of this machine
			if file, set := os.LookupEnv(name); set {
				e.Setenv(name, file)
			}
		}
		e.Setenv("SECRET", "correct-horse-battery") // the plain text of secrets; no script has it in a file
		err := setup(e)
		e.Setenv("PATH", tools+string(os.PathListSeparator)+e.Getenv("PATH"))
		return err
	}
	return p
}

// strips reports whether the node of scripts runs TypeScript by itself. folder has that node, "" for the one on PATH.
func strips(t *testing.T, folder string) bool {
	t.Helper()
	node := "node"
	if folder != "" {
		node = filepath.Join(folder, node)
	}
	out, err := exec.Command(node, "-p", "process.features.typescript").Output()
	found := err == nil && strings.TrimSpace(string(out)) == "strip"
	require.True(t, found || os.Getenv("CI") == "", "neither node nor node22 runs TypeScript by itself")
	return found
}

// downloadJavaSDK makes Maven download the dependencies of scripts with Java programs. Without a JDK or Maven they are skipped, except in CI.
func downloadJavaSDK(t *testing.T) {
	t.Helper()
	err := javasdk.Install("../../source/java/testdata/program")
	if errors.Is(err, javasdk.ErrMissing) && os.Getenv("CI") == "" {
		t.Log(err)
		return
	}
	require.NoError(t, err)
}

// goCaches returns the variables with which Go programs use the caches of this test. Scripts have a home of their own.
func goCaches(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	dirs := strings.Fields(string(out))
	require.Len(t, dirs, 2)
	return []string{"GOCACHE=" + dirs[0], "GOMODCACHE=" + dirs[1]}
}

// patience limits every wait of a test, including that for a command of an arena, however busy the machine is, so that only a failure takes that
// long. A command then gets a signal that makes it print its goroutines and end.
const patience = 5 * time.Minute

// executables are the programs that tests of this process have built, by package.
var executables await.Flight[string, string]

// build makes binary the executable of a package.
func build(t *testing.T, binary, pkg string) {
	t.Helper()
	file, err := executables.Do(t.Context(), pkg, func() (string, error) { return executable.Shared(t.Context(), pkg) })
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(binary), 0o755))
	require.NoError(t, executable.Link(file, binary))
}

// shareMachineCode lets commands with another home use the machine code of Graphviz that this user's cache has, or put it there: to compile it takes
// longer than everything else that draws a graph.
func shareMachineCode(cache string) error {
	user, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	shared := filepath.Join(user, "sluice", "graphviz")
	return errors.Join(os.MkdirAll(shared, 0o700), os.MkdirAll(cache, 0o700), os.Symlink(shared, filepath.Join(cache, "graphviz")))
}

// scripts returns the parameters that all scripts of command lines share.
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir: dir,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PULUMI_HOME", e.WorkDir+"/home")
			e.Setenv("PULUMI_BACKEND_URL", "file://"+e.WorkDir+"/backend")
			e.Setenv("PULUMI_CONFIG_PASSPHRASE", "correct horse")
			e.Setenv("FAKE_CLOUD", e.WorkDir+"/cloud")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("BIN", filepath.SplitList(e.Getenv("PATH"))[0])        // has sluice and plugins for tests, and nothing else
			e.Setenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", "true") // scripts test a missing plugin without a download
			e.Setenv("STATE", e.WorkDir+"/backend/.pulumi/stacks")
			e.Setenv("JOURNAL", e.WorkDir+"/backend/.pulumi/sluice/journal")
			if err := shareMachineCode(e.WorkDir + "/.cache/sluice"); err != nil {
				return err
			}
			return os.MkdirAll(e.WorkDir+"/backend", 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"waitfor":    waitFor,
			"nowhere":    nowhere,
			"status":     status,
			"signalled":  signalled,
			"hungup":     hungUp,
			"killed":     killed,
			"decodes":    decodes,
			"attach":     attach,
			"onterminal": onTerminal,
			"valid":      valid,
			"pack":       packZip,
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	}
}
