package archives_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/archives"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/stagestest"
)

// pack writes a zip file whose entries are of a day.
func pack(t *testing.T, path string, day int, files ...string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := zip.NewWriter(f)
	for _, name := range files {
		name, content, _ := strings.Cut(name, "=")
		out, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)})
		require.NoError(t, err)
		_, err = out.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// declared returns inputs with an archive, as the program gives them.
func declared(t *testing.T, dir string) property.Map {
	t.Helper()
	m, err := property.HashAssets(t.Context(), property.NewMap(map[string]property.Value{"code": property.PathArchive("a.zip")}), dir)
	require.NoError(t, err)
	return m
}

func hashIn(m property.Map) string { return m.At("code").AsArchive().Hash }

func TestAnArchiveWithTheRecordedContentsHasTheRecordedHash(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.zip")
	c := archives.Read("")
	through := func(inputs property.Map, old *property.Map) string {
		r := stagestest.Resource{Inputs: inputs}
		if old != nil {
			r.Recorded, r.Was = true, *old
		}
		result := stagestest.Run(t.Context(), stages.RunInfo{}, c.Stage(dir), r.Located())
		require.NoError(t, result.Err)
		require.Len(t, result.Emitted, 1)
		require.Equal(t, hashIn(inputs), hashIn(r.Located().Goal.Inputs), "items are immutable")
		return hashIn(result.Emitted[0].Goal.Inputs)
	}
	pack(t, file, 1, "a=1", "b=2")
	first := declared(t, dir)
	require.Equal(t, hashIn(first), through(first, nil))

	pack(t, file, 2, "b=2", "a=1")
	again := declared(t, dir)
	require.NotEqual(t, hashIn(first), hashIn(again))
	require.Equal(t, hashIn(first), through(again, &first))
	c = archives.Read(c.Text()) // by the next command
	require.Equal(t, hashIn(first), through(again, &first))
	require.NotContains(t, c.Text(), hashIn(again), "it is not recorded")

	pack(t, file, 3, "b=2", "a=3")
	changed := declared(t, dir)
	require.Equal(t, hashIn(changed), through(changed, &first))
	require.Contains(t, c.Text(), hashIn(changed))

	c = archives.Read("damaged")
	pack(t, file, 4, "b=2", "a=1")
	require.NotEqual(t, hashIn(first), through(declared(t, dir), &first), "nothing is known of the recorded one")
}

func TestTheStageKeepsTheRulesOfStages(t *testing.T) {
	dir := t.TempDir()
	pack(t, filepath.Join(dir, "a.zip"), 5, "a=1")
	old := declared(t, dir)
	pack(t, filepath.Join(dir, "a.zip"), 6, "a=2")
	now := declared(t, dir)
	stagestest.Check(t, archives.Read("").Stage(dir), func() []stages.Located {
		return []stages.Located{
			stagestest.Resource{Name: "a", Seq: 1, Inputs: now, Recorded: true, Was: old}.Located(), stagestest.Resource{Name: "b", Seq: 2, Inputs: now}.Located(),
		}
	})
}
