package display

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
)

func TestDetailsThatManyErrorsShareAreToldOnce(t *testing.T) {
	var out bytes.Buffer
	l := NewLog(Options{Title: "Updating (dev):", Out: &out})
	for _, name := range []string{"one", "two"} {
		l.Observe(sluice.Diagnostic{LogMessage: sluice.LogMessage{
			Severity: sluice.Error, URN: thing(name), Message: "create of " + name + ": the plugin ended\nits last output was:\n  panic: no disk",
		}})
	}
	l.Close()
	require.Equal(t, 1, strings.Count(out.String(), "no disk"), out.String())
	require.Contains(t, out.String(), "error: create of two: the plugin ended (as above)\n")
}
