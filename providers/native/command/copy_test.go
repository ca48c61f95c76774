//go:build unix

package command_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// files makes files in a folder.
func files(t *testing.T, dir string, content map[string]string) {
	for name, text := range content {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

// content reads the files of a folder.
func content(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[name] = string(text)
		return err
	}))
	return out
}

func TestFilesAreCopiedAsTheirSourceAndDestinationSay(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("web")) }))
	defer web.Close()
	for name, c := range map[string]struct {
		source property.Value
		there  map[string]string // the existing files
		path   string
		want   map[string]string
		err    string
	}{
		"a file": {source: property.PathAsset("one"), path: "a/b", want: map[string]string{"a/b": "1"}},
		"a file into a directory": {
			source: property.PathAsset("one"), path: "a", there: map[string]string{"a/x": "x"},
			want: map[string]string{"a/x": "x", "a/one": "1"},
		},
		"a file over another": {
			source: property.PathAsset("one"), path: "a", there: map[string]string{"a": "longer"}, want: map[string]string{"a": "1"},
		},
		"a text": {source: property.TextAsset("text"), path: "a", want: map[string]string{"a": "text"}},
		"a text into a directory": {
			source: property.TextAsset("text"), path: "a", there: map[string]string{"a/x": "x"}, err: "path of a file",
		},
		"a download": {source: property.URIAsset(web.URL + "/f.txt"), path: "a", there: map[string]string{"a/x": "x"},
			want: map[string]string{"a/x": "x", "a/f.txt": "web"}},
		"an archive's download": {source: property.URIArchive(web.URL + "/f.tgz"), path: "a", want: map[string]string{"a": "web"}},
		"a folder": {
			source: property.PathArchive("dir"), path: "a", want: map[string]string{"a/dir/two": "2", "a/dir/sub/three": "3"},
		},
		"the files of a folder": {
			source: property.PathArchive("dir/"), path: "a", want: map[string]string{"a/two": "2", "a/sub/three": "3"},
		},
		"a folder over a file": {
			source: property.PathArchive("dir/"), path: "a", there: map[string]string{"a": "x"}, err: "not a directory",
		},
		"named files": {
			source: property.MemberArchive(props("x", property.TextAsset("x"), "y/z", property.PathAsset("one"))), path: "a",
			want: map[string]string{"a/x": "x", "a/y/z": "1"},
		},
		"nothing": {source: property.PathAsset("nothing"), path: "a", err: "nothing"},
		"name that leads out": {
			source: property.MemberArchive(props("../out", property.TextAsset("x"))), path: "a", err: `a file "../out", which is not a path below it`,
		},
		"pipe":               {source: property.PathAsset("pipes/pipe"), path: "a", err: "it is a named pipe, and not a file"},
		"folder with a pipe": {source: property.PathArchive("pipes"), path: "a", err: "it is a named pipe, and not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			sshd := serve(t)
			s, _, dir := remoteStack(t, "command:remote:CopyToRemote")
			files(t, dir, map[string]string{"one": "1", "dir/two": "2", "dir/sub/three": "3", "pipes/a": ""})
			require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipes/pipe"), 0o600))
			files(t, sshd.dir, c.there)
			err := s.TryCreate(props("connection", sshd.withPassword(), "source", c.source, "remotePath", c.path))
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Regexp(t, `^[0-9a-f]{8}$`, s.ID)
			require.Equal(t, c.want, content(t, sshd.dir))
		})
	}
}

func TestFilesAreCopiedAgainWhenSomethingIsOtherwise(t *testing.T) {
	sshd, other := serve(t), serve(t)
	s, _, _ := remoteStack(t, "command:remote:CopyToRemote")
	in := props("connection", sshd.withPassword(), "source", property.TextAsset("one"), "remotePath", "a")
	s.Preview(in)
	require.Empty(t, content(t, sshd.dir))
	s.Create(in)
	s.RequireSame(in)
	s.RequireUnchanged()
	in = in.With("source", property.TextAsset("two"))
	require.Equal(t, providers.DiffSome, s.Diff(in).Changes)
	s.Update(in)
	require.Equal(t, map[string]string{"a": "two"}, content(t, sshd.dir))

	before, _ := sshd.count()
	s.Update(in.With("connection", sshd.connection("password", password, "perDialTimeout", 3)))
	after, _ := sshd.count()
	require.Equal(t, before, after, "nothing to copy")
	s.Update(in.With("connection", other.withPassword()))
	require.Equal(t, map[string]string{"a": "two"}, content(t, other.dir))
	s.RequireReplace(in.With("triggers", property.ArrayOf(property.Number(1))).With("connection", other.withPassword()), "triggers")
	require.NoError(t, s.Delete())
	require.Equal(t, map[string]string{"a": "two"}, content(t, other.dir))
}

func TestOldFormOfCopyIsMadeAnewByEveryChange(t *testing.T) {
	sshd := serve(t)
	s, _, dir := remoteStack(t, "command:remote:CopyFile")
	files(t, dir, map[string]string{"one": "1"})
	in := props("connection", sshd.withPassword(), "localPath", "one", "remotePath", "a")
	s.Create(in)
	require.Equal(t, map[string]string{"a": "1"}, content(t, sshd.dir))
	s.RequireSame(in)
	s.RequireReplace(in.With("remotePath", property.String("b")), "remotePath")
	require.ErrorContains(t, s.TryCreate(in.With("localPath", property.String("nothing"))), "nothing")
}
