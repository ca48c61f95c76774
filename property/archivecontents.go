package property

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// IsFile reports whether a is an archive file on this machine, whose hash is that of its bytes.
func (a Archive) IsFile() bool { return a.Kind == KindPath && formatOf(a.Path) != notArchive }

// ContentsHash returns a SHA-256, in hexadecimal, of what an archive file contains: the names, kinds, permissions, link targets and contents of its
// entries. It does not depend on the order of the entries, on times, owners, compression and comments. Entries with one name keep their order. It is an
// error if the file has bytes before its entries, if an entry cannot be read, or if the file is not the one that a.Hash was computed from.
func ContentsHash(ctx context.Context, ar AssetReader, a Archive) (string, error) {
	if !a.IsFile() {
		return "", errors.New("the archive is not a file")
	}
	file, format, err := ar.openArchiveFile(ctx, a)
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw := sha256.New()
	if _, err := io.Copy(raw, file); err != nil {
		return "", err
	}
	if hex.EncodeToString(raw.Sum(nil)) != a.Hash {
		return "", errors.New("the archive has changed while it was read")
	}
	if _, err := file.file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	c := contents{ctx: ctx, limit: counter{ar.limit(), ar.limit()}}
	switch format {
	case zipArchive:
		err = c.zip(file)
	case gzipArchive:
		var z *gzip.Reader
		if z, err = gzip.NewReader(file); err == nil {
			err = c.tar(z)
		}
	default:
		err = c.tar(file)
	}
	if err != nil {
		return "", err
	}
	return c.hash(format), nil
}

// contents are the entries of an archive file.
type contents struct {
	ctx     context.Context
	limit   counter
	entries []contentsEntry
	names   int
}

type contentsEntry struct{ name, rest string }

// add adds an entry. about are its further properties that count.
func (c *contents) add(name string, mode fs.FileMode, content io.Reader, about ...string) error {
	if c.names += len(name) + costOfAName; c.names > maxNames {
		return fmt.Errorf("the archive has too many files, more than %d", len(c.entries))
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, counted{attentive{c.ctx, io.NopCloser(content)}, &c.limit}); err != nil {
		return fmt.Errorf("archive entry '%v': %w", name, err)
	}
	rest := append([]string{mode.String(), hex.EncodeToString(sum.Sum(nil))}, about...)
	c.entries = append(c.entries, contentsEntry{name, strings.Join(rest, "\x00")})
	return nil
}

// extended begins the keys of extended attributes in tar files.
const extended = "SCHILY.xattr."

func (c *contents) tar(file io.Reader) error {
	t := tar.NewReader(counted{attentive{c.ctx, io.NopCloser(file)}, &c.limit})
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		about := []string{string(h.Typeflag), h.Linkname, fmt.Sprint(h.Devmajor, h.Devminor)}
		for _, key := range slices.Sorted(maps.Keys(h.PAXRecords)) {
			if strings.HasPrefix(key, extended) {
				about = append(about, key, h.PAXRecords[key])
			}
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue // it has only properties that do not count
		}
		if err := c.add(h.Name, h.FileInfo().Mode(), t, about...); err != nil {
			return err
		}
	}
}

func (c *contents) zip(file blob) error {
	z, err := zip.NewReader(file.file, file.size)
	if err != nil {
		return err
	}
	first := file.size
	for _, f := range z.File {
		const encrypted = 1
		if f.Flags&encrypted != 0 {
			return fmt.Errorf("archive entry '%v' is encrypted", f.Name)
		}
		at, err := f.DataOffset()
		if err != nil {
			return err
		}
		first = min(first, at)
		content, err := f.Open()
		if err != nil {
			return fmt.Errorf("archive entry '%v': %w", f.Name, err)
		}
		err = c.add(f.Name, f.Mode(), content)
		content.Close()
		if err != nil {
			return err
		}
	}
	if len(z.File) == 0 {
		return errors.New("the archive has no entries")
	}
	return beginsWithEntry(file.file, first)
}

// beginsWithEntry returns an error if a zip file has something before its first entry, whose data are at an offset: a program that unpacks
// itself has.
func beginsWithEntry(file io.ReaderAt, data int64) error {
	header := make([]byte, 30)
	if _, err := file.ReadAt(header, 0); err != nil {
		return err
	}
	name, extra := binary.LittleEndian.Uint16(header[26:]), binary.LittleEndian.Uint16(header[28:])
	if string(header[:4]) != "PK\x03\x04" || int64(len(header))+int64(name)+int64(extra) != data {
		return errors.New("the archive has bytes before its first entry")
	}
	return nil
}

func (c *contents) hash(format archiveFormat) string {
	slices.SortStableFunc(c.entries, func(a, b contentsEntry) int { return cmp.Compare(a.name, b.name) })
	sum := sha256.New()
	fmt.Fprintf(sum, "sluice archive contents 1 %d\n", format)
	for _, e := range c.entries {
		fmt.Fprintf(sum, "%d %s%d %s", len(e.name), e.name, len(e.rest), e.rest)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// WithArchiveHashes returns m with other hashes for archive files. hash gets each of them, with the hash of the archive at the same place in old, ""
// if there is none. Archives in secrets and members of archives are left as they are.
func WithArchiveHashes(m, old Map, hash func(now Archive, recorded string) string) Map {
	out, _ := withArchiveHashes(Of(m), Of(old), hash)
	return out.AsMap()
}

func withArchiveHashes(v, old Value, hash func(Archive, string) string) (Value, bool) {
	switch x := v.v.(type) {
	case Archive:
		if !x.IsFile() || x.Hash == "" {
			return v, false
		}
		given := x.Hash
		x.Hash = hash(x, old.AsArchive().Hash)
		return Of(x), x.Hash != given
	case Array:
		before, at := old.AsArray(), -1
		return rewriteChildren(v, func(e Value) (Value, bool) {
			if at++; at < before.Len() {
				return withArchiveHashes(e, before.At(at), hash)
			}
			return withArchiveHashes(e, Null, hash)
		})
	case Map:
		changed := false
		list := slices.Clone(x.members())
		for i, e := range list {
			var here bool
			list[i].value, here = withArchiveHashes(e.value, old.AsMap().At(e.name), hash)
			changed = changed || here
		}
		if !changed {
			return v, false
		}
		return Of(list.object()), true
	}
	return v, false
}
