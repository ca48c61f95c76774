package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// Whoever decides whether a plugin has to be installed must agree with whoever looks for it.
func TestThePluginIsInstalledIfItIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		mark  func(partial string) error
		found bool
	}{
		"no mark":                        {func(string) error { return nil }, true},
		"a mark":                         {func(partial string) error { return os.WriteFile(partial, nil, 0o600) }, false},
		"a mark that nobody may look at": {func(partial string) error { return os.Symlink(partial, partial) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			p := place{filepath.Join(home, "plugins", "resource-simple-v1.0.0"), Request{Kind: plugin.Resource, Name: "simple", Version: "1.0.0"}}
			require.NoError(t, os.MkdirAll(p.directory, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(p.directory, "pulumi-resource-simple"), nil, 0o700))
			if err := c.mark(p.partial()); err != nil {
				t.Skip(err)
			}
			_, err := plugin.Finder{Home: home, LookupEnv: func(string) (string, bool) { return "", false }}.Find(plugin.Resource, "simple", "1.0.0")
			require.Equal(t, c.found, err == nil)
			require.Equal(t, c.found, p.complete())
		})
	}
}
