package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

func TestAMissingPluginIsAcquiredIfThatIsAllowed(t *testing.T) {
	wanted := plugin.Wanted{Kind: plugin.Resource, Name: "thing", Version: "1.2.3", DownloadURL: "https://x.example"}
	installs := func(home string) plugin.Acquire {
		return func(_ context.Context, w plugin.Wanted) error {
			if w.Name != wanted.Name || w.DownloadURL != wanted.DownloadURL {
				return errors.New("something else was asked for")
			}
			folder := filepath.Join(home, "plugins", "resource-thing-v1.2.3")
			return errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, "pulumi-resource-thing"), nil, 0o755))
		}
	}
	fails := func(err error) func(string) plugin.Acquire {
		return func(string) plugin.Acquire { return func(context.Context, plugin.Wanted) error { return err } }
	}
	const absent = "no resource plugin 'pulumi-resource-thing' found in the workspace at version v1.2.3 or on your $PATH"
	for name, c := range map[string]struct {
		acquire func(home string) plugin.Acquire
		want    string // "" if it is found
	}{
		"installed":     {installs, ""},
		"nobody can":    {func(string) plugin.Acquire { return nil }, absent},
		"forbidden":     {fails(fmt.Errorf("%w, as X is set", plugin.ErrNotAcquired)), absent + ", and automatic installation is turned off, as X is set"},
		"not available": {fails(errors.New("no server")), "Could not automatically download and install resource plugin 'pulumi-resource-thing' at version v1.2.3: no server"},
		"not there yet": {fails(nil), absent},
	} {
		t.Run(name, func(t *testing.T) {
			f := plugin.Finder{Home: t.TempDir(), LookupEnv: func(string) (string, bool) { return "", false }}
			l, err := f.FindOrAcquire(t.Context(), wanted, c.acquire(f.Home))
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, plugin.FromCache, l.Source)
				return
			}
			require.EqualError(t, err, c.want)
			require.ErrorAs(t, err, new(*plugin.MissingError))
		})
	}
	_, err := plugin.Finder{}.FindOrAcquire(t.Context(), wanted, installs("")) // there is no cache to install in
	require.EqualError(t, err, absent)

	cancelled, cancel := context.WithCancelCause(t.Context())
	_, err = plugin.Finder{Home: t.TempDir()}.FindOrAcquire(cancelled, wanted, func(context.Context, plugin.Wanted) error {
		cancel(errors.New("enough"))
		return errors.New("half a file")
	})
	require.EqualError(t, err, "enough")
}
