package property_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

// in is an archive with an archive file in it, whose members are read, not only its bytes.
func in(name string) Map { return object("a", MemberArchive(object("in", PathArchive(name)))) }

func TestEntriesThatAreNoFilesAreRefusedByName(t *testing.T) {
	for typ, want := range map[byte]string{
		tar.TypeSymlink: "is a symbolic link", tar.TypeLink: "is a hard link", tar.TypeChar: "is neither a file nor a directory",
		tar.TypeBlock: "is neither a file nor a directory", tar.TypeFifo: "is neither a file nor a directory",
	} {
		root := t.TempDir()
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: typ, Name: "odd", Linkname: "/etc"}))
		require.NoError(t, w.WriteHeader(&tar.Header{Name: "odd/passwd", Size: 1}))
		_, err := io.WriteString(w, "x")
		require.NoError(t, err)
		require.NoError(t, w.Close())
		write(t, root, "a.tar", b.String())
		_, err = HashAssets(t.Context(), in("a.tar"), root)
		require.ErrorContains(t, err, `"a": archive member 'in': archive entry 'odd' `+want)
	}
}

// Hashes equal those of Pulumi for any name, but callers that write the files get only names below the archive.
func TestNamesThatLeadOutOfAnArchiveAreNotUsed(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"../up", "a/../../up", "/abs", `..\up`, `a\..\..\up`, "..", "nul\x00"} {
		write(t, root, "a.zip", string(packed(t, "zip", name, "x")))
		var names []string
		err := AssetReader{Dir: root}.Members(t.Context(), PathArchive("a.zip").AsArchive(), func(name string, _ io.Reader) error {
			names = append(names, name)
			return nil
		})
		require.ErrorContains(t, err, "is not a path below it", name)
		require.Empty(t, names)
		if strings.Contains(name, "\x00") {
			continue
		}
		got, err := HashAssets(t.Context(), in("a.zip"), root)
		require.NoError(t, err)
		want := peerArchive(in("a.zip").At("a").AsArchive())
		require.NoError(t, want.EnsureHashWithWD(root))
		require.Equal(t, want.Hash, got.At("a").AsArchive().Hash)
	}
}

func TestArchivesThatUnpackToTooMuchAreRefused(t *testing.T) {
	root := t.TempDir()
	zeros := string(make([]byte, 3<<20))
	write(t, root, "long.zip", string(packed(t, "zip", "f", zeros)))
	write(t, root, "long.tgz", string(packed(t, "tgz", "f", zeros)))
	var many []string
	for range 400 {
		many = append(many, "d", zeros[:8<<10]) // all of one name, so that only the first is read
	}
	write(t, root, "many.tgz", string(packed(t, "tgz", many...)))

	var lying bytes.Buffer
	z := zip.NewWriter(&lying)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "f", UncompressedSize64: 100 << 30, Method: zip.Deflate})
	require.NoError(t, err)
	_, err = w.Write([]byte{3, 0})
	require.NoError(t, err)
	require.NoError(t, z.Close())
	write(t, root, "declares.zip", lying.String())

	for _, name := range []string{"long.zip", "long.tgz", "many.tgz", "declares.zip"} {
		_, err := AssetReader{Dir: root, MaxUnpacked: 2 << 20}.Hash(t.Context(), in(name))
		require.ErrorContains(t, err, "the archive unpacks to more than 2 MiB", name)
	}
	_, err = AssetReader{Dir: root, MaxUnpacked: 4 << 20}.Hash(t.Context(), in("long.tgz"))
	require.NoError(t, err)
	_, err = AssetReader{Dir: root, MaxUnpacked: 2 << 20}.Hash(t.Context(), object("a", PathArchive("long.tgz")))
	require.NoError(t, err, "a whole archive is only its bytes")
}

// Servers do not always send the length of a content, and zip files are read from their end.
func TestDownloadsOfUnknownLengthAreKeptOnDisk(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	content := packed(t, "zip", "f", strings.Repeat("0123456789", 100_000))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for part := content; len(part) > 0; {
			n := min(len(part), 1000)
			_, _ = w.Write(part[:n])
			w.(http.Flusher).Flush()
			part = part[n:]
		}
	}))
	defer server.Close()
	root := t.TempDir()
	write(t, root, "a.zip", string(content))
	address := server.URL + "/a.zip"
	r := AssetReader{Dir: root, Client: server.Client()}
	local, err := r.Hash(t.Context(), object("a", MemberArchive(object("z", PathArchive("a.zip"), "f", PathAsset("a.zip")))))
	require.NoError(t, err)
	remote, err := r.Hash(t.Context(), object("a", MemberArchive(object("z", URIArchive(address), "f", URIAsset(address)))))
	require.NoError(t, err)
	require.Equal(t, local.At("a").AsArchive().Hash, remote.At("a").AsArchive().Hash)

	r.MaxUnpacked = 1000
	_, err = r.Hash(t.Context(), object("a", MemberArchive(object("f", URIAsset(address)))))
	require.ErrorContains(t, err, "archive member 'f': it is larger than")
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestReadingEndsWithItsContext(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "huge"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<40))
	require.NoError(t, f.Close())
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(packed(t, "tar", "f", string(make([]byte, 1<<20))))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	write(t, root, "a.tgz", b.String())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, v := range []Value{PathAsset("huge"), MemberArchive(object("f", PathAsset("huge"))), in("a.tgz").At("a"), PathArchive("a.tgz")} {
		_, err := HashAssets(ctx, object("a", v), root)
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestFilesThatBecomeValuesAreFilesOfLimitedSize(t *testing.T) {
	root := t.TempDir()
	huge := filepath.Join(root, "huge")
	write(t, root, "huge", "")
	require.NoError(t, os.Truncate(huge, MaxSize+1))
	_, err := ReadFile(huge)
	require.ErrorContains(t, err, "it is larger than 400 MiB; use an asset")
	_, err = ReadFile(root)
	require.ErrorContains(t, err, "it is a directory, and not a file")
	_, err = ReadFile(os.DevNull)
	require.ErrorContains(t, err, "it is a device, and not a file")
	write(t, root, "small", "x")
	text, err := ReadFile(filepath.Join(root, "small"))
	require.NoError(t, err)
	require.Equal(t, "x", string(text))
}
