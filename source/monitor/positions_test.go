package monitor

import (
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/source"
)

func TestSourcePositionsAreRelativeToTheProject(t *testing.T) {
	for name, c := range map[string]struct {
		root, uri    string
		line, column int32
		want         string
	}{
		"in the root":       {"/p", "file:///p/index.ts", 3, 9, "project:///index.ts#3,9"},
		"in a folder":       {"/p", "file:///p/src/a.ts", 3, 0, "project:///src/a.ts#3"},
		"outside":           {"/p/q", "file:///p/a.ts", 1, 1, "project:///../a.ts#1,1"},
		"with odd letters":  {"/p", "file:///p/a%20b.ts", 1, 1, "project:///a%20b.ts#1,1"},
		"another scheme":    {"/p", "https://p/a.ts", 1, 1, ""},
		"a relative path":   {"/p", "file:a.ts", 1, 1, ""},
		"no URI":            {"/p", "", 1, 1, ""},
		"a broken URI":      {"/p", "file://%zz", 1, 1, ""},
		"without a project": {"", "file:///p/a.ts", 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHandler(source.ServedMonitor{Root: c.root})
			require.Equal(t, c.want, h.positions.text(&pulumirpc.SourcePosition{Uri: c.uri, Line: c.line, Column: c.column}))
		})
	}
}
