package nodejs_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

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
