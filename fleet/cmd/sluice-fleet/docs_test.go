package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Every command line in the manual has a command and flags that exist. Those of sluice itself are checked in its
// module.
func TestCommandsInTheManualExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/fleet.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?m)(?:^    |`|\\()sluice fleet +([^#`)\n]*)").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(found), 15)
	for _, m := range found {
		cmd, rest, err := newRoot().Find(strings.Fields(m[1]))
		require.NoError(t, err, m[1])
		require.True(t, cmd.HasParent(), m[1])
		for _, w := range rest {
			if name := regexp.MustCompile(`^--?[a-z][-a-z]*`).FindString(w); name != "" {
				require.NotNil(t, flagOf(cmd, name), "%s: %s", m[1], name)
			}
		}
	}
}

func flagOf(cmd *cobra.Command, name string) any {
	short := strings.TrimPrefix(name, "-")
	if long, is := strings.CutPrefix(name, "--"); is {
		if f := cmd.Flag(long); f != nil {
			return f
		}
		return nil
	}
	if f := cmd.Flags().ShorthandLookup(short); f != nil {
		return f
	}
	if f := cmd.InheritedFlags().ShorthandLookup(short); f != nil {
		return f
	}
	return nil
}

func TestEveryCommandIsDescribed(t *testing.T) {
	for _, cmd := range newRoot().Commands() {
		require.NotEmpty(t, cmd.Short, cmd.Name())
		require.NotRegexp(t, `\.$`, cmd.Short, cmd.Name())
	}
}

// The suggested commands in help texts can be typed as they are.
func TestTheHelpNamesTheCommandAsItWasCalled(t *testing.T) {
	for called, name := range map[string]string{"sluice fleet": "sluice fleet", "/usr/bin/sluice-fleet": "sluice-fleet", "sluice-fleet.exe": "sluice-fleet"} {
		root := newRootAs(called)
		up, _, err := root.Find([]string{"up"})
		require.NoError(t, err)
		require.Equal(t, name+" up [flags]", up.UseLine())
		require.Equal(t, name+" [flags]", root.UseLine())
	}
}

func TestWrongCommandLinesEndWithTheirStatus(t *testing.T) {
	for line, says := range map[string]string{
		"up extra":              `unexpected argument "extra"`,
		"upp":                   `unknown command "upp" for "sluice fleet"`,
		"schedule aply":         `unknown command "aply" for "sluice fleet schedule"`,
		"logs":                  "missing argument",
		"up --no-such":          "unknown flag: --no-such",
		"up --concurrency many": `--concurrency cannot be "many": it takes int`,
	} {
		root := newRootAs("sluice fleet")
		root.SetArgs(strings.Fields(line))
		var own *statusError
		require.ErrorAs(t, root.Execute(), &own, line)
		require.Equal(t, statusUsage, own.status, line)
		require.Contains(t, own.Error(), says+"\nusage: sluice fleet", line)
	}
}

func TestManPagesAreWritten(t *testing.T) {
	pages := t.TempDir()
	root := newRootAs("/usr/bin/sluice-fleet") // for users who type that path
	root.SetArgs([]string{"gen-man", pages})
	require.NoError(t, root.Execute())
	text, err := os.ReadFile(pages + "/sluice-fleet-up.1")
	require.NoError(t, err)
	require.Contains(t, string(text), "sluice fleet up [flags]")
	require.NoFileExists(t, pages+"/sluice-fleet-server.1", "it is no command for people")
}
