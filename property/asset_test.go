package property_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

func write(t *testing.T, root, name, content string) {
	t.Helper()
	p := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o700))
	require.NoError(t, os.WriteFile(p, []byte(content), 0o600))
}

// tree makes a directory with a case for every rule of canonical order and naming.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, "d/sub/a", "1")
	write(t, root, "d/sub.txt", "2")
	write(t, root, "d/empty", "")
	write(t, root, "d/.pulumi/secret", "never")
	write(t, root, "d/nested/.pulumi", "nor this")
	write(t, root, "d/"+strings.Repeat("long/", 60)+"name", "3")
	write(t, root, "d/ü", "4")
	require.NoError(t, os.Symlink("sub.txt", filepath.Join(root, "d/link")))
	require.NoError(t, os.Symlink("sub", filepath.Join(root, "d/dirlink")))
	require.NoError(t, os.Symlink("d", filepath.Join(root, "linked")))

	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "x/"}))
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "./x/y", Size: 3, Mode: 0o755}))
	_, err := w.Write([]byte("tar"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	write(t, root, "a.tar", tarred.String())

	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	_, err = z.Create("dir/")
	require.NoError(t, err)
	f, err := z.Create("dir/f")
	require.NoError(t, err)
	_, err = f.Write([]byte("zip"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	write(t, root, "a.zip", zipped.String())

	var gzipped bytes.Buffer
	g := gzip.NewWriter(&gzipped)
	_, err = g.Write(tarred.Bytes())
	require.NoError(t, err)
	require.NoError(t, g.Close())
	write(t, root, "a.tgz", gzipped.String())
	return root
}

func TestHashesAreThoseOfTheReferenceImplementation(t *testing.T) {
	root := tree(t)
	members := MemberArchive(object(
		"z", PathAsset("d/sub.txt"), "a", TextAsset("x"), "tar", PathArchive("a.tar"), "zip", PathArchive("a.zip"),
		"tgz", PathArchive("a.tgz"), "dir", PathArchive("d"), "e", MemberArchive(object("f", TextAsset(""))),
		"zip/dir/f", TextAsset("a duplicate, which loses"), "dir/sub", Of(Archive{Kind: KindMembers}),
	))
	archives := map[string]Value{
		"empty":             Of(Archive{Kind: KindMembers}),
		"members":           members,
		"directory":         PathArchive("d"),
		"link to directory": PathArchive("linked"),
		"tar":               PathArchive("a.tar"),
		"zip":               PathArchive("a.zip"),
		"URI":               URIArchive("file://" + root + "/a.tgz"),
	}
	seen := map[string]bool{}
	for name, v := range archives {
		t.Run(name, func(t *testing.T) {
			got, err := HashAssets(t.Context(), object("a", v), root)
			require.NoError(t, err)
			want := peerArchive(v.AsArchive())
			require.NoError(t, want.EnsureHashWithWD(root))
			require.Equal(t, want.Hash, got.At("a").AsArchive().Hash)
			seen[want.Hash] = true
		})
	}
	require.True(t, seen["5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"], "the empty archive")

	assets := map[string]Value{
		"text": Of(Asset{Kind: KindText, Text: "x"}), "empty text": Of(Asset{Kind: KindText}), "path": PathAsset("d/sub.txt"),
		"absolute path": PathAsset(filepath.Join(root, "d/link")), "URI": URIAsset("file://localhost" + root + "/a.zip"),
	}
	for name, v := range assets {
		t.Run(name, func(t *testing.T) {
			got, err := HashAssets(t.Context(), object("a", v), root)
			require.NoError(t, err)
			want := peerAsset(v.AsAsset())
			require.NoError(t, want.EnsureHashWithWD(root))
			require.Equal(t, want.Hash, got.At("a").AsAsset().Hash)
		})
	}
}

func TestHashesAreFoundAtEveryDepthAndKeptWhereTheyAre(t *testing.T) {
	root := tree(t)
	asset := PathAsset("d/sub.txt")
	in := object(
		"plain", Number(1), "list", ArrayOf(Secret(asset)), "out", OutputOf(Output{Known: true, Element: Of(object("x", asset))}),
		"archive", MemberArchive(object("m", asset)), "given", Of(Asset{Kind: KindPath, Path: "is not there", Hash: "00"}),
		"unknown", OutputOf(Output{}),
	)
	got, err := HashAssets(t.Context(), in, root)
	require.NoError(t, err)
	const hash = "d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"
	require.Equal(t, hash, got.At("list").AsArray().At(0).AsSecret().AsAsset().Hash)
	require.Equal(t, hash, got.At("out").AsOutput().Element.AsMap().At("x").AsAsset().Hash)
	require.Equal(t, hash, got.At("archive").AsArchive().Members.At("m").AsAsset().Hash)
	require.Equal(t, "00", got.At("given").AsAsset().Hash)
	require.False(t, got.At("unknown").AsOutput().Known)
	require.Empty(t, in.At("archive").AsArchive().Members.At("m").AsAsset().Hash, "values never change")
}

func TestUnreadableContentNamesTheProperty(t *testing.T) {
	root := tree(t)
	tests := map[string]struct {
		in   Value
		want string
	}{
		"missing file":         {PathAsset("nope"), `hash of the asset "a[0]": `},
		"directory as asset":   {PathAsset("d"), `try using an archive`},
		"scheme":               {URIAsset("ftp://x/y"), `Unrecognized or unsupported URI scheme: ftp`},
		"file host":            {URIAsset("file://elsewhere/x"), `file:// host 'elsewhere' not supported (only localhost)`},
		"file as archive":      {PathArchive("d/sub.txt"), `is neither a recognized archive type nor a directory`},
		"URI as archive":       {URIArchive("https://x.invalid/file"), `file at URL 'https://x.invalid/file' is not a recognized archive format`},
		"elided archive inner": {MemberArchive(object("m", Of(Asset{Hash: "00"}))), `archive member 'm': only its hash is known, not its content`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := HashAssets(t.Context(), object("a", ArrayOf(tt.in)), root)
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, `"a[0]"`)
		})
	}
}

func TestDownloadsAreRepeatedAfterServerErrors(t *testing.T) {
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/absent":
			http.NotFound(w, r)
		case calls.Add(1) == 1:
			w.WriteHeader(http.StatusBadGateway)
		default:
			_, _ = w.Write([]byte("x"))
		}
	}))
	defer server.Close()
	r := AssetReader{Client: server.Client()}
	got, err := r.Hash(t.Context(), object("a", MemberArchive(object("m", URIAsset(server.URL+"/x")))))
	require.NoError(t, err)
	require.Equal(t, TextAsset("x").AsAsset().Hash, got.At("a").AsArchive().Members.At("m").AsAsset().Hash)
	require.EqualValues(t, 3, calls.Load(), "one failure, the member's own hash, and the archive's")

	_, err = r.Hash(t.Context(), object("a", URIAsset(server.URL+"/absent")))
	require.ErrorContains(t, err, "the server answered 404 Not Found")
}
