package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/sourcegraph/conc/pool"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

func written(t *testing.T, text string) []byte {
	return archived(t, entry{name: plugin.PluginManifest, text: "runtime: nodejs\n"}, entry{name: "text", text: text})
}

// findsWritten reports whether the plugin is found in source form, and returns its text and its installed dependencies.
func findsWritten(t *testing.T, home string) (text, needed string, found bool) {
	t.Helper()
	_, err := plugin.Finder{Home: home, LookupEnv: func(string) (string, bool) { return "", false }}.Find(plugin.Resource, "thing", "1.2.3")
	if errors.As(err, new(*plugin.MissingError)) {
		return "", "", false
	}
	var hosted *plugin.LanguageHostedError
	require.ErrorAs(t, err, &hosted)
	require.Equal(t, plugin.FromCache, hosted.Source)
	a, err := os.ReadFile(filepath.Join(hosted.Directory, "text"))
	require.NoError(t, err)
	b, _ := os.ReadFile(filepath.Join(hosted.Directory, "needed"))
	return string(a), string(b), true
}

func TestAPluginInSourceFormIsFoundWhenWhatItNeedsIsInstalled(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, written(t, "first"))
	var installed atomic.Int32
	i := n.installer(home, mirrored)
	i.options.Dependencies = func(_ context.Context, w Written) error {
		installed.Add(1)
		_, _, found := findsWritten(t, home)
		return errors.Join(os.WriteFile(filepath.Join(w.Directory, "needed"), fmt.Append(nil, !found), 0o600))
	}
	p := pool.New().WithErrors()
	for range 4 {
		p.Go(func() error { _, err := i.Install(t.Context(), wanted()); return err })
	}
	require.NoError(t, p.Wait())
	require.EqualValues(t, 1, installed.Load())
	text, needed, found := findsWritten(t, home)
	require.True(t, found)
	require.Equal(t, []string{"first", "true"}, []string{text, needed})
	require.Empty(t, remains(t, home))
}

func TestAnExecutableNeedsNothing(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, archived(t, entry{name: plugin.PluginManifest, text: "runtime: go\n"}, entry{name: program, text: "the plugin"}))
	i := n.installer(home, mirrored)
	i.options.Dependencies = func(context.Context, Written) error { return errors.New("asked for") }
	_, err := i.Install(t.Context(), wanted())
	require.NoError(t, err)
	require.True(t, finds(t, home))
}

func TestALanguagePluginMustBeAnExecutable(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	r := Request{Kind: plugin.Language, Name: "thing", Version: "1.2.3"}
	n.has(mirrorHost+r.archive(), written(t, "language"))
	_, err := n.installer(home, mirrored).Install(t.Context(), r)
	require.ErrorContains(t, err, "it has no pulumi-language-thing in its first folder")
}

func TestWithoutWhatItNeedsAPluginIsNotInstalled(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(mirrorHost+archiveName, written(t, "first"))
	i := n.installer(home, mirrored)
	fails := func(_ context.Context, w Written) error {
		w.Output(plugin.Line{Piece: plugin.Piece{Text: "no such package"}})
		return errors.New("it ended with exit status 1")
	}
	i.options.Dependencies = fails
	_, err := i.Install(t.Context(), wanted())
	require.ErrorContains(t, err, "cannot install its dependencies: it ended with exit status 1\nits last output was:\n  no such package")
	require.Empty(t, err.(*Error).Advice())
	_, _, found := findsWritten(t, home)
	require.False(t, found)
	require.Empty(t, remains(t, home))

	// The previous installation stays.
	i.options.Dependencies = nil
	_, err = i.Install(t.Context(), wanted())
	require.NoError(t, err)
	n.has(mirrorHost+archiveName, written(t, "second"))
	again := wanted()
	again.Reinstall = true
	i.options.Dependencies = fails
	_, err = i.Install(t.Context(), again)
	require.ErrorAs(t, err, new(*DependenciesError))
	text, _, found := findsWritten(t, home)
	require.True(t, found)
	require.Equal(t, "first", text)

	// The same holds when the user does not wait.
	ctx, cancel := context.WithCancelCause(t.Context())
	i.options.Dependencies = func(context.Context, Written) error {
		cancel(errors.New("enough"))
		return errors.New("interrupted")
	}
	_, err = i.Install(ctx, again)
	require.EqualError(t, err, "enough")
	text, _, found = findsWritten(t, home)
	require.True(t, found)
	require.Equal(t, "first", text)
}

func TestAKillWhileDependenciesAreInstalledLeavesNothingThatIsFound(t *testing.T) {
	n, home := newInternet(t), t.TempDir()
	n.has(n.local(), written(t, "first"))
	cmd := process(t, n, home)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	said := bufio.NewScanner(out)
	for said.Scan() && said.Text() != string(Completing) {
	}
	require.Equal(t, string(Completing), said.Text())
	_, _, found := findsWritten(t, home)
	require.False(t, found)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	_, _, found = findsWritten(t, home)
	require.False(t, found)

	i := New(Options{Home: home, LookupEnv: func(name string) (string, bool) { return n.server.URL, name == mirrorVariable }})
	i.options.Dependencies = func(context.Context, Written) error { return errors.New("fails") }
	_, err = i.Install(t.Context(), wanted())
	require.ErrorContains(t, err, "fails")
	_, _, found = findsWritten(t, home)
	require.False(t, found, "what the killed process has left is not a plugin that was there before")

	i.options.Dependencies = nil
	_, err = i.Install(t.Context(), wanted())
	require.NoError(t, err)
	_, _, found = findsWritten(t, home)
	require.True(t, found)
	require.Empty(t, remains(t, home))
}
