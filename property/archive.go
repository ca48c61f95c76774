package property

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
)

type archiveFormat uint8

const (
	notArchive archiveFormat = iota
	tarArchive
	gzipArchive
	zipArchive
)

func formatOf(name string) archiveFormat {
	switch {
	case strings.HasSuffix(name, ".tar"):
		return tarArchive
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return gzipArchive
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".jar"):
		return zipArchive
	}
	return notArchive
}

// writeCanonical writes the bytes that the hash of an archive is computed from: the archive file if it is one, else a
// tar stream of its members (protocol.md 2.6).
func (ar AssetReader) writeCanonical(ctx context.Context, a Archive, w io.Writer) error {
	file, format, err := ar.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format != notArchive {
		defer file.Close()
		_, err := io.Copy(w, file)
		return err
	}
	t := canonicalTar{reader: ar, w: tar.NewWriter(w), seen: map[string]struct{}{}}
	if err := ar.eachMember(ctx, a, t.add); err != nil {
		return err
	}
	return t.w.Close()
}

// openArchiveFile returns format notArchive for directories and member maps.
func (ar AssetReader) openArchiveFile(ctx context.Context, a Archive) (blob, archiveFormat, error) {
	switch a.Kind {
	case KindPath:
		p := ar.resolve(a.Path)
		format := formatOf(p)
		if format == notArchive {
			return blob{}, notArchive, nil
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return blob{}, notArchive, fmt.Errorf("'%v' has the name of an archive file and is a directory; rename it", p)
		}
		b, err := openFile(ctx, p)
		return b, format, err
	case KindURI:
		u, err := url.Parse(a.URI)
		if err != nil {
			return blob{}, notArchive, err
		}
		format := formatOf(u.Path)
		if format == notArchive {
			return blob{}, notArchive, fmt.Errorf("file at URL '%v' is not a recognized archive format", u.Redacted())
		}
		b, err := ar.openURL(ctx, u)
		return b, format, err
	}
	return blob{}, notArchive, nil
}

// maxNames limits the memory for the file names of one archive, in bytes, with the overhead of each name. It is enough
// for some millions of files.
const (
	maxNames    = 512 << 20
	costOfAName = 64
)

// canonicalTar writes headers with nothing but name, mode and size. Of two members with one name the first wins.
type canonicalTar struct {
	reader AssetReader
	w      *tar.Writer
	seen   map[string]struct{}
	names  int
}

func (t *canonicalTar) add(name string, b blob) error {
	if _, dup := t.seen[name]; dup {
		return nil
	}
	t.seen[name] = struct{}{}
	if t.names += len(name) + costOfAName; t.names > maxNames {
		return fmt.Errorf("the archive has too many files, more than %d", len(t.seen)-1)
	}
	if err := t.write(name, b); err != nil {
		return fmt.Errorf("archive member '%v': %w", name, err)
	}
	return nil
}

func (t *canonicalTar) write(name string, b blob) error {
	if b.size < 0 {
		var err error
		if b, err = t.reader.onDisk(b); err != nil {
			return err
		}
		defer b.Close()
	}
	if err := t.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: b.size}); err != nil {
		return err
	}
	n, err := io.Copy(t.w, b)
	if err != nil && !errors.Is(err, tar.ErrWriteTooLong) {
		return err
	}
	if err != nil || n != b.size {
		return errors.New("it changed its size while it was read")
	}
	return nil
}

// eachMember calls add for every file of an archive, in canonical order. add must read the blob before it returns;
// it need not close it.
func (ar AssetReader) eachMember(ctx context.Context, a Archive, add func(name string, b blob) error) error {
	switch a.Kind {
	case KindMembers:
		return ar.eachInMap(ctx, a.Members, add)
	case KindElided:
		return errNoContent
	}
	file, format, err := ar.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format == notArchive {
		return eachInDirectory(ctx, ar.resolve(a.Path), add)
	}
	u := newUnpacking(ctx, ar.limit(), add)
	if format == zipArchive {
		if file, err = ar.onDisk(file); err != nil {
			return err
		}
		defer file.Close()
		return u.zip(file)
	}
	defer file.Close()
	if format == gzipArchive {
		z, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		return u.tar(z)
	}
	return u.tar(file)
}

func (ar AssetReader) eachInMap(ctx context.Context, members Map, add func(string, blob) error) error {
	for name, v := range members.All() {
		if nested, ok := v.v.(Archive); ok {
			err := ar.eachMember(ctx, nested, func(inner string, b blob) error { return add(path.Join(name, inner), b) })
			if err != nil {
				return fmt.Errorf("archive member '%v': %w", name, err)
			}
			continue
		}
		a, ok := v.v.(Asset)
		if !ok {
			return fmt.Errorf("archive member '%v' is not an asset or archive", name)
		}
		b, err := ar.open(ctx, a)
		if err != nil {
			return fmt.Errorf("archive member '%v': %w", name, err)
		}
		err = add(name, b)
		b.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// bookkeeping is the directory in which tools keep their own files; it is no part of an archive.
const bookkeeping = ".pulumi"

// eachInDirectory follows symbolic links to files but not to directories, also where root itself is one.
func eachInDirectory(ctx context.Context, root string, add func(string, blob) error) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("'%v' is neither a recognized archive type nor a directory", root)
	}
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.Name() == bookkeeping && entry.IsDir():
			return fs.SkipDir
		case entry.Name() == bookkeeping || entry.IsDir():
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Stat(file)
			if err != nil {
				return err
			}
			if target.IsDir() {
				return nil
			}
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		b, err := openFile(ctx, file)
		if err != nil {
			return err
		}
		defer b.Close()
		return add(filepath.ToSlash(name), b)
	})
}
