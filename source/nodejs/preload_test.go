package nodejs_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

// Without the preload, some versions of node use more and more memory here until none is left.
func TestErrorsWithStrangeStacksCanBeShown(t *testing.T) {
	tier.Slow(t, "Node.js")
	out, err := exec.Command("node", "--max-old-space-size=64", "--require", "./preload.cjs", "-e", `
		const util = require("util");
		const e = new Error("x");
		e.stack = "Error: x\n    at f (/a/node_modules/@scope/file.js:1:2)";
		console.log(util.inspect(e, { colors: true }));
		console.log(util.inspect({ a: 1 }, { colors: true }), util.inspect({ a: 1 }), typeof util.inspect.custom, util.inspect.defaultOptions.depth);
	`).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "Error: x\n    at f (/a/node_modules/@scope/file.js:1:2)\n{ a: \x1b[33m1\x1b[39m } { a: 1 } symbol 2\n", string(out))
}

// The SDK notes the stacks of about ten promises for each resource. Their texts, with positions in the sources, cost more than the rest.
func TestTextsOfNotedStacksAreMadeWhenTheyAreShown(t *testing.T) {
	p := project(t, "leak")
	p.Options = map[string]any{"typescript": false}
	t.Setenv("PULUMI_DEBUG_PROMISE_LEAKS", "true")
	m := monitortest.Preview()
	require.Error(t, run(t, p, m))
	require.Equal(t, []string{"10 texts\n"}, m.Messages(stages.Info), "one position for each resource")
	said := strings.Join(m.Messages(stages.InfoErr), "")
	require.Contains(t, said, "Promise leak detected")
	require.Regexp(t, `STACK_TRACE:\nError: *\n    at .*debuggablePromise \(.*debuggable\.[jt]s:\d+`, said)
	require.Regexp(t, `at new Thing \(.*leak.index\.js:\d+:\d+\)`, said)
}

// Packages read, replace and restore the function that makes the texts of stacks.
func TestOthersReplaceWhatMakesTheTextsOfStacks(t *testing.T) {
	tier.Slow(t, "Node.js")
	out, err := exec.Command("node", "--require", "./preload.cjs", "-e", `
		const assert = require("assert");
		const usual = Error.prepareStackTrace;
		const frames = () => {
			const former = Error.prepareStackTrace;
			Error.prepareStackTrace = (_, frames) => frames;
			const { stack } = new Error();
			Error.prepareStackTrace = former;
			return stack;
		};
		assert.strictEqual(typeof frames()[0].getLineNumber(), "number");
		assert.strictEqual(Error.prepareStackTrace, usual);
		assert.match(new Error("x").stack, /^Error: x\n    at /);
		function mine(e, frames) { return this === Error && "mine of " + e.message; }
		Error.prepareStackTrace = mine;
		for (let i = 0; i < 3; i++) {
			frames();
			assert.strictEqual(new Error("x").stack, "mine of x");
			assert.strictEqual(Error.prepareStackTrace, Error.prepareStackTrace);
		}
		Error.prepareStackTrace = undefined;
		assert.strictEqual(Error.prepareStackTrace, undefined);
		assert.match(new TypeError("y").stack, /^TypeError: y\n    at /);
		console.log("done");
	`).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "done\n", string(out))
}

func TestNodeKeepsWhatItHasCompiled(t *testing.T) {
	tier.Slow(t, "Node.js")
	newest, err := nodesdk.Newest(t.TempDir())
	require.NoError(t, err)
	if newest != "" {
		t.Setenv("PATH", newest+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	out, err := exec.Command("node", "--print", `typeof require("node:module").enableCompileCache === "function"`).CombinedOutput()
	require.NoError(t, err, "%s", out)
	can := strings.TrimSpace(string(out)) == "true" // since 22.8
	cache := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, cache)
	}
	kept := func() (files int) {
		require.NoError(t, filepath.WalkDir(cache, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				files++
			}
			return err
		}))
		return files
	}
	declares := func() {
		t.Helper()
		m := monitortest.Preview()
		p := project(t, "commonjs")
		p.Options = map[string]any{"typescript": false}
		require.NoError(t, run(t, p, m))
		require.NotEmpty(t, m.Record().Registered)
	}
	t.Setenv("CI", "")
	for name, value := range map[string]string{"NODE_COMPILE_CACHE": "", "NODE_DISABLE_COMPILE_CACHE": "1", "CI": "true"} {
		t.Setenv(name, value)
		declares()
		require.Zero(t, kept(), name)
		require.NoError(t, os.Unsetenv(name))
	}
	declares()
	require.Equal(t, can, kept() > 100)
	declares()
}
