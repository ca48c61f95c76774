package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Every command line in the manual has a command and flags that exist. What sluice itself has is checked there.
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
