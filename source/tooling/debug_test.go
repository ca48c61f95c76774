package tooling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source/tooling"
)

func TestWhichPluginsWaitForADebugger(t *testing.T) {
	var found []string
	d := tooling.Debug{Names: []string{"a", "b", "folder"}, Found: func(name string) { found = append(found, name) }}
	require.True(t, d.Plugin("a", "folder"), "by its name, or by that of its folder")
	require.False(t, d.Plugin("c"))
	require.Equal(t, []string{"a", "folder"}, found)

	d.Plugins = true
	require.True(t, d.Plugin("c"))
	require.False(t, d.Named("c"))
	require.True(t, d.Plugin("b"))
	require.Equal(t, []string{"a", "folder", "b"}, found, "a name counts as found if all plugins wait, too")

	d.Found = nil
	require.True(t, d.Named("b"))
	require.False(t, tooling.Debug{Program: true}.Plugin("a"))
}
