package graph

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// sample is a provider, a component with two children, and a machine that uses the component.
func sample() (*Graph, func(ID) string) {
	var g Graph
	g.AddNode()
	g.AddNode()
	g.AddNode(Edge{0, Provider}, Edge{1, Parent})
	g.AddNode(Edge{0, Provider}, Edge{1, Parent}, Edge{2, PropertyDependency | Dependency})
	g.AddNode(Edge{1, Dependency}, Edge{0, Provider}, Edge{3, PropertyDependency | DeletedWith})
	g.AddLabel(4, 3, "subnetId")
	g.AddLabel(4, 1, "by hand")
	g.AddLabel(3, 2, "vpcId")
	g.AddLabel(3, 2, "tags")
	names := []string{"cloud", "network", "vpc", "subnet", `machine "a\b"`}
	return &g, func(id ID) string { return names[id] }
}

func TestRenderings(t *testing.T) {
	g, name := sample()
	x := g.ExpandComponents(Components{IsComponent: func(id ID) bool { return id == 1 }})
	for file, render := range map[string]func(*strings.Builder) error{
		"sample.txt":   func(b *strings.Builder) error { return g.Text(b, name) },
		"numbers.txt":  func(b *strings.Builder) error { return g.Text(b, nil) },
		"some.txt":     func(b *strings.Builder) error { return g.TextOf(b, []ID{4, 2}, name) },
		"sample.dot":   func(b *strings.Builder) error { return g.DOT(b, name) },
		"expanded.txt": func(b *strings.Builder) error { return x.Text(b, name) },
		"expanded.dot": func(b *strings.Builder) error { return x.DOT(b, nil) },
	} {
		t.Run(file, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, render(&b))
			requireGolden(t, file, b.String())
		})
	}
}

func TestRenderingPassesOnWriteErrors(t *testing.T) {
	g, name := sample()
	for how, render := range map[string]func(w brokenWriter) error{
		"text": func(w brokenWriter) error { return g.Text(w, name) },
		"dot":  func(w brokenWriter) error { return g.DOT(w, name) },
	} {
		t.Run(how, func(t *testing.T) { require.ErrorIs(t, render(brokenWriter{}), os.ErrClosed) })
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }
