package archive_test

import (
	"archive/zip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/archive"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func stack(t *testing.T) (*nativetest.Stack, string) {
	o := native.Options{Directory: t.TempDir()}
	for name, text := range map[string]string{
		"test-file.txt": "This is test content", "dir/file1.txt": "This is file 1", "dir/file2.txt": "This is file 2",
		"dir/file3.txt": "This is file 3", "deep/a/b/c.txt": "c", "deep/x.log": "x",
	} {
		path := filepath.Join(o.Directory, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return nativetest.New(t, archive.Package(o), "archive:index/file:File", o), o.Directory
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, archive.Package(native.Options{}), modules, "@pulumi/archive")
}

// The hashes are those of the tests of the public package.
func TestArchivesHaveTheBytesOfThePublicPackage(t *testing.T) {
	content := []any{"sourceContent", "This is some content", "sourceContentFilename", "content.txt"}
	file := []any{"sourceFile", "test-file.txt", "outputFileMode", "0666"}
	dir := []any{"sourceDir", "dir", "outputFileMode", "0666"}
	for name, c := range map[string]struct {
		typ, sha string
		in       []any
	}{
		"zip of content":        {"zip", "019c79c4dc14dbe1edb3e467b2de6a6aad148717", content},
		"zip of a file":         {"zip", "ce4ee1450ab93ac86e11446649e44cea907b6568", file},
		"zip of a directory":    {"zip", "76d20a402eefd1cfbdc47886abd4e0909616c191", dir},
		"tar.gz of content":     {"tar.gz", "6c84af188d367644731196007301c9dc93914b0e", content},
		"tar.gz of a file":      {"tar.gz", "d2f26a69cbb920715f797f81c1477c41d8fc9195", file},
		"tar.gz of a directory": {"tar.gz", "3af6ef3c57aaa5ab3681cd25f916d6651b806cb6", dir},
	} {
		t.Run(name, func(t *testing.T) {
			s, at := stack(t)
			in := props(append([]any{"type", c.typ, "outputPath", "out/archive"}, c.in...)...)
			require.True(t, s.Preview(in).At("outputSha").IsUnknown())
			require.NoFileExists(t, filepath.Join(at, "out/archive"))
			out := s.Create(in)
			require.Equal(t, c.sha, out.At("outputSha").AsString())
			require.Equal(t, c.sha, s.ID)
			info, err := os.Stat(filepath.Join(at, "out/archive"))
			require.NoError(t, err)
			require.Equal(t, float64(info.Size()), out.At("outputSize").AsNumber())
			s.RequireSame(in)
			s.RequireUnchanged()
			got, err := s.Invoke("archive:index/getFile:getFile", in)
			require.NoError(t, err)
			require.Equal(t, c.sha, got.At("id").AsString())
			require.True(t, property.Equal(out.At("outputBase64sha512"), got.At("outputBase64sha512")))
		})
	}
}

// names lists the files of a zip.
func names(t *testing.T, path string) []string {
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer z.Close()
	var out []string
	for _, f := range z.File {
		out = append(out, f.Name)
	}
	return out
}

func TestDirectoriesAreArchivedWithoutWhatIsExcluded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	s, at := stack(t)
	require.NoError(t, os.Symlink(filepath.Join(at, "dir"), filepath.Join(at, "deep/link")))
	in := func(pairs ...any) property.Map {
		return props(append([]any{"type", "zip", "outputPath", "deep/out.zip", "sourceDir", "deep"}, pairs...)...)
	}
	create := func(pairs ...any) []string {
		s.Create(in(pairs...))
		return names(t, filepath.Join(at, "deep/out.zip"))
	}
	all := []string{"a/b/c.txt", "link/file1.txt", "link/file2.txt", "link/file3.txt", "x.log"}
	require.Equal(t, all, create())
	require.Equal(t, all, create()) // not the archive itself, which is there now
	require.Equal(t, []string{"a/b/c.txt", "x.log"}, create("excludeSymlinkDirectories", true))
	require.Equal(t, []string{"link/file1.txt", "x.log"}, create("excludes", []string{"a/**", "**/file[23].txt"}))
	require.Equal(t, []string{"link/file1.txt", "link/file2.txt", "link/file3.txt", "x.log"}, create("excludes", []string{"a"}))
	require.ErrorContains(t, s.TryCreate(in("excludes", []string{"*", "*/**"})), "would be empty")
	require.ErrorContains(t, s.TryCreate(in("excludes", []string{"["})), "excludes")

	require.NoError(t, os.Symlink("..", filepath.Join(at, "deep/a/up")))
	require.ErrorContains(t, s.TryCreate(in()), "link to a directory above")
}

func TestSourcesAreASet(t *testing.T) {
	s, at := stack(t)
	file := func(name string) property.Value {
		return property.Of(props("filename", name, "content", "the content of "+name))
	}
	in := func(sources ...any) property.Map {
		return props("type", "zip", "outputPath", "a.zip", "sources", sources)
	}
	s.Create(in(file("b"), file("a")))
	require.Equal(t, []string{"a", "b"}, names(t, filepath.Join(at, "a.zip")))
	s.RequireSame(in(file("a"), file("b")))
	s.RequireReplace(in(file("a"), file("c")), "sources")
	s.RequireReplace(in(file("a"), file("b"), file("c")), "sources")
	s.RequireReplace(in(file("a"), property.Computed()), "sources")
}

func TestRefreshWritesTheArchiveAnew(t *testing.T) {
	s, at := stack(t)
	in := props("type", "tar.gz", "outputPath", "a", "sourceFile", "test-file.txt")
	s.Create(in)
	id := s.ID
	require.NoError(t, os.WriteFile(filepath.Join(at, "test-file.txt"), []byte("other"), 0o644))
	require.True(t, s.Refresh())
	require.NotEqual(t, id, s.ID)
	require.Equal(t, s.ID, s.Outputs.At("outputSha").AsString())
	require.True(t, s.PreviewUpdate(in.With("excludeSymlinkDirectories", property.Bool(true))).At("outputSha").IsUnknown())
	s.Update(in.With("excludeSymlinkDirectories", property.Bool(true)))
	s.RequireReplace(in.With("outputPath", property.String("b")), "outputPath")
	require.NoError(t, s.Delete())
	require.FileExists(t, filepath.Join(at, "a"))
	require.ErrorContains(t, s.TryImport("a"), "cannot be imported")

	require.NoError(t, os.Remove(filepath.Join(at, "test-file.txt")))
	require.ErrorContains(t, s.TryCreate(in), "test-file.txt")
	entries, err := os.ReadDir(at)
	require.NoError(t, err)
	require.Len(t, entries, 3) // nothing half written
}

func TestInputsAreChecked(t *testing.T) {
	s, _ := stack(t)
	base := []any{"type", "zip", "outputPath", "a"}
	for want, pairs := range map[string][]any{
		"exactly one":  {},
		"go together":  {"sourceContentFilename", "a"},
		"for sourceDi": {"sourceFile", "a", "excludes", []string{"b"}},
		"octal":        {"sourceFile", "a", "outputFileMode", "rw"},
	} {
		in := props(append(pairs, base...)...)
		require.Contains(t, s.Refused(in)[0].Reason, want)
		_, err := s.Invoke("archive:index/getFile:getFile", in)
		require.ErrorContains(t, err, want)
	}
	require.Contains(t, s.Refused(props("type", "rar", "outputPath", "a", "sourceFile", "a"))[0].Reason, "tar.gz")
	require.Equal(t, "outputPath", s.Refused(props("type", "zip", "sourceFile", "a"))[0].Property)
}
