package property_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/sluice-iac/sluice/property"
)

// member is an entry of an archive file.
type member struct {
	name, content string
	mode          os.FileMode
	day           int
	stored        bool
	link, owner   string
}

func zipped(t *testing.T, comment string, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	require.NoError(t, w.SetComment(comment))
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1+m.day, 0, 0, 0, 0, time.UTC)}
		if m.stored {
			h.Method = zip.Store
		}
		h.SetMode(0o644 | m.mode)
		out, err := w.CreateHeader(h)
		require.NoError(t, err)
		_, err = out.Write([]byte(m.content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func tarred(t *testing.T, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: int64(0o644 | m.mode), Size: int64(len(m.content)), ModTime: time.Date(2026, 1, 1+m.day, 0, 0, 0, 0, time.UTC), Uname: m.owner}
		if m.link != "" {
			h.Typeflag, h.Linkname = tar.TypeSymlink, m.link
		}
		require.NoError(t, w.WriteHeader(h))
		_, err := w.Write([]byte(m.content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func compressed(t *testing.T, content []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// contentsOf returns the hash of the contents of an archive file with these bytes, or the error.
func contentsOf(t *testing.T, name string, content []byte) (string, error) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	m, err := HashAssets(t.Context(), object("a", PathArchive(name)), dir)
	require.NoError(t, err)
	return ContentsHash(t.Context(), AssetReader{Dir: dir}, m.At("a").AsArchive())
}

func TestTheContentsOfAnArchiveFileAreWhatItUnpacksTo(t *testing.T) {
	a, b := member{name: "a", content: "1"}, member{name: "d/b", content: "2"}
	later, plain, program, renamed := a, a, a, a
	later.day, plain.stored, program.mode, renamed.name = 5, true, 0o111, "c"
	other := member{name: "a", content: "3"}
	owned, link, elsewhere := a, member{name: "l", link: "a"}, member{name: "l", link: "d/b"}
	owned.owner = "somebody"
	first := zipped(t, "", a, b)
	for about, c := range map[string]struct {
		name        string
		one, two    []byte
		isUnchanged bool
	}{
		"the same":               {"a.zip", first, first, true},
		"another order":          {"a.zip", first, zipped(t, "", b, a), true},
		"other times":            {"a.jar", first, zipped(t, "", later, b), true},
		"another compression":    {"a.zip", first, zipped(t, "", plain, b), true},
		"a comment":              {"a.zip", first, zipped(t, "built today", a, b), true},
		"another content":        {"a.zip", first, zipped(t, "", other, b), false},
		"another name":           {"a.zip", first, zipped(t, "", renamed, b), false},
		"an executable":          {"a.zip", first, zipped(t, "", program, b), false},
		"one file less":          {"a.zip", first, zipped(t, "", a), false},
		"an empty directory":     {"a.zip", first, zipped(t, "", a, b, member{name: "e/"}), false},
		"a name twice":           {"a.zip", zipped(t, "", a, other), zipped(t, "", other, a), false},
		"a tar file":             {"a.tar", tarred(t, a, b), tarred(t, b, later), true},
		"owners in a tar file":   {"a.tar", tarred(t, a, b), tarred(t, owned, b), true},
		"a link in a tar file":   {"a.tar", tarred(t, a, link), tarred(t, a, elsewhere), false},
		"a compressed tar file":  {"a.tar.gz", compressed(t, tarred(t, a, b), 1), compressed(t, tarred(t, b, a), 9), true},
		"another compressed one": {"a.tgz", compressed(t, tarred(t, a, b), 1), compressed(t, tarred(t, b), 1), false},
	} {
		t.Run(about, func(t *testing.T) {
			one, err := contentsOf(t, c.name, c.one)
			require.NoError(t, err)
			two, err := contentsOf(t, c.name, c.two)
			require.NoError(t, err)
			require.Equal(t, c.isUnchanged, one == two)
		})
	}
}

func TestArchiveFilesWhoseContentsAreNotKnown(t *testing.T) {
	good := zipped(t, "", member{name: "a", content: "1"})
	encrypted := slices.Clone(good)
	at := bytes.Index(encrypted, []byte("PK\x01\x02"))
	encrypted[at+8] |= 1
	for want, content := range map[string][]byte{
		"has bytes before its first entry": append([]byte("#!/bin/sh\nexec java -jar $0\n"), good...),
		"is encrypted":                     encrypted,
		"has no entries":                   zipped(t, ""),
		"not a valid zip file":             []byte("no archive"),
	} {
		_, err := contentsOf(t, "a.zip", content)
		require.ErrorContains(t, err, want)
	}
	_, err := contentsOf(t, "a.tgz", []byte("no archive"))
	require.Error(t, err)
	_, err = ContentsHash(t.Context(), AssetReader{}, PathArchive(".").AsArchive())
	require.ErrorContains(t, err, "is not a file")

	dir := t.TempDir()
	file := filepath.Join(dir, "a.zip")
	require.NoError(t, os.WriteFile(file, good, 0o600))
	_, err = ContentsHash(t.Context(), AssetReader{Dir: dir}, Archive{Kind: KindPath, Path: "a.zip", Hash: "00"})
	require.ErrorContains(t, err, "has changed while it was read")
	_, err = ContentsHash(t.Context(), AssetReader{MaxUnpacked: 10}, hashed(t, file))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, zipped(t, "", member{name: "a", content: string(make([]byte, 1000))}), 0o600))
	_, err = ContentsHash(t.Context(), AssetReader{MaxUnpacked: 10}, hashed(t, file))
	require.ErrorContains(t, err, "unpacks to more than")
}

func hashed(t *testing.T, file string) Archive {
	t.Helper()
	m, err := HashAssets(t.Context(), object("a", PathArchive(file)), "")
	require.NoError(t, err)
	return m.At("a").AsArchive()
}

func TestHashesOfArchivesAreReplacedAtTheirPlaces(t *testing.T) {
	file := func(hash string) Value { return Of(Archive{Kind: KindPath, Path: "a.zip", Hash: hash}) }
	now := object("a", file("1"), "list", ArrayOf(Number(1), file("2")), "map", Of(object("x", file("3"))), "secret", Secret(file("4")),
		"dir", Of(Archive{Kind: KindPath, Path: "d", Hash: "5"}), "new", file("6"))
	old := object("a", file("o1"), "list", ArrayOf(file("no"), file("o2")), "map", Of(object("x", file("o3"))), "secret", Secret(file("o4")),
		"dir", Of(Archive{Kind: KindPath, Path: "d", Hash: "o5"}))
	seen := map[string]string{}
	out := WithArchiveHashes(now, old, func(a Archive, recorded string) string {
		seen[a.Hash] = recorded
		if recorded == "" {
			return a.Hash
		}
		return recorded
	})
	require.Equal(t, map[string]string{"1": "o1", "2": "o2", "3": "o3", "6": ""}, seen)
	require.Equal(t, "o1", out.At("a").AsArchive().Hash)
	require.Equal(t, "o2", out.At("list").AsArray().At(1).AsArchive().Hash)
	require.Equal(t, "o3", out.At("map").AsMap().At("x").AsArchive().Hash)
	require.Equal(t, "6", out.At("new").AsArchive().Hash)
	require.Equal(t, "1", now.At("a").AsArchive().Hash, "values never change")
	same := WithArchiveHashes(now, old, func(a Archive, _ string) string { return a.Hash })
	require.Equal(t, now, same)
}
