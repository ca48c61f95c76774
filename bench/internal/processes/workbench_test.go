//go:build unix

package processes

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/bench/internal/results"
)

// The child of an interrupted process ignores interrupts, as the background processes of a shell do. It must not go on in a folder that is removed.
func TestAnInterruptLeavesNoProcessesAndFiles(t *testing.T) {
	b := &workbench{directory: filepath.Join(t.TempDir(), "w")}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = read.Close() }()
	cmd := b.started(ctx, "sh", "-c", "sleep 1000 & echo ready; wait")
	cmd.Stdout = write
	require.NoError(t, cmd.Start())
	require.NoError(t, write.Close())
	output := bufio.NewReader(read)
	line, err := output.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)

	cancel()
	require.Error(t, cmd.Wait())
	b.close()
	rest, err := io.ReadAll(output) // ends when no process has the other end
	require.NoError(t, err)
	require.Empty(t, rest)
	require.NoDirExists(t, b.directory)
}

func TestAReportHasTheVersionsOfWhatIsMeasured(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	script := func(name, text string) string {
		path := filepath.Join(bin, name)
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
		return path
	}
	script("terraform", "echo Terraform v9.9; echo on some system")
	script("node", "echo v99.0")
	require.NoError(t, os.Symlink(script("sluice", "echo v1"), filepath.Join(bin, "pulumi")))

	r := &results.Report{Versions: map[string]string{}}
	p := peers{report: r, found: map[string]*peer{}}
	require.Empty(t, r.Missing, "nothing was asked for")
	found, ok := p.find(t.Context(), Terraform)
	require.True(t, ok)
	require.Equal(t, filepath.Join(bin, "terraform"), found.path)
	_, ok = p.find(t.Context(), Terraform, "a-plugin")
	require.False(t, ok)
	_, ok = p.find(t.Context(), Pulumi)
	require.False(t, ok, "it is sluice by another name")
	require.True(t, p.interpreter(t.Context(), "node"))
	require.True(t, p.interpreter(t.Context(), ""))
	require.False(t, p.interpreter(t.Context(), "python3"))
	require.Equal(t, map[string]string{"terraform": "Terraform v9.9", "node": "v99.0"}, r.Versions)
	require.Equal(t, []string{"a-plugin", "pulumi", "python3"}, r.Missing)
}

func TestTheWaitsOfAProgramAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "latencies")
	none, err := readLatencies(file)
	require.NoError(t, err)
	require.Zero(t, none.Count())
	require.NoError(t, os.WriteFile(file, []byte("1000000\n3000000\n"), 0o644))
	l, err := readLatencies(file)
	require.NoError(t, err)
	require.EqualValues(t, 2, l.Count())
	require.InEpsilon(t, float64(3*time.Millisecond), float64(l.Max()), 0.01)
	require.NoError(t, os.WriteFile(file, []byte("soon\n"), 0o644))
	_, err = readLatencies(file)
	require.ErrorContains(t, err, "latencies")
}
