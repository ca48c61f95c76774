package property

import (
	"archive/tar"
	"archive/zip"
	"bytes"
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

// writeCanonical writes what the hash of an archive is computed from: the bytes of the archive file if it is one, else a
// tar stream of its members (protocol.md 2.6).
func (r AssetReader) writeCanonical(ctx context.Context, a Archive, w io.Writer) error {
	file, format, err := r.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format != notArchive {
		defer file.Close()
		_, err := io.Copy(w, file)
		return err
	}
	t := canonicalTar{w: tar.NewWriter(w), seen: map[string]struct{}{}}
	if err := r.eachMember(ctx, a, t.add); err != nil {
		return err
	}
	return t.w.Close()
}

// openArchiveFile returns format notArchive for directories and member maps.
func (r AssetReader) openArchiveFile(ctx context.Context, a Archive) (blob, archiveFormat, error) {
	switch a.Kind {
	case KindPath:
		p := r.resolve(a.Path)
		format := formatOf(p)
		if format == notArchive {
			return blob{}, notArchive, nil
		}
		b, err := openFile(p)
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
		b, err := r.openURL(ctx, u)
		return b, format, err
	}
	return blob{}, notArchive, nil
}

// canonicalTar writes headers with nothing but name, mode and size. Of two members with one name the first wins.
type canonicalTar struct {
	w    *tar.Writer
	seen map[string]struct{}
}

func (t canonicalTar) add(name string, b blob) error {
	if _, dup := t.seen[name]; dup {
		return nil
	}
	t.seen[name] = struct{}{}
	b, err := b.sized()
	if err != nil {
		return fmt.Errorf("archive member '%v': %w", name, err)
	}
	if err := t.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: b.size}); err != nil {
		return fmt.Errorf("archive member '%v': %w", name, err)
	}
	n, err := io.Copy(t.w, b)
	if err != nil && !errors.Is(err, tar.ErrWriteTooLong) {
		return fmt.Errorf("archive member '%v': %w", name, err)
	}
	if err != nil || n != b.size {
		return fmt.Errorf("archive member '%v' changed its size while it was read", name)
	}
	return nil
}

// eachMember calls add for every file of an archive, in canonical order. add must read the blob before it returns;
// it need not close it.
func (r AssetReader) eachMember(ctx context.Context, a Archive, add func(name string, b blob) error) error {
	switch a.Kind {
	case KindMembers:
		return r.eachInMap(ctx, a.Members, add)
	case KindElided:
		return errNoContent
	}
	file, format, err := r.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format == notArchive {
		return eachInDirectory(ctx, r.resolve(a.Path), add)
	}
	defer file.Close()
	switch format {
	case zipArchive:
		return eachInZip(file, add)
	case gzipArchive:
		z, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		return eachInTar(z, add)
	default:
		return eachInTar(file, add)
	}
}

func (r AssetReader) eachInMap(ctx context.Context, members Map, add func(string, blob) error) error {
	for name, v := range members.All() {
		if nested, ok := v.v.(Archive); ok {
			err := r.eachMember(ctx, nested, func(inner string, b blob) error { return add(path.Join(name, inner), b) })
			if err != nil {
				return fmt.Errorf("archive member '%v': %w", name, err)
			}
			continue
		}
		a, ok := v.v.(Asset)
		if !ok {
			return fmt.Errorf("archive member '%v' is not an asset or archive", name)
		}
		b, err := r.open(ctx, a)
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
		b, err := openFile(file)
		if err != nil {
			return err
		}
		defer b.Close()
		return add(filepath.ToSlash(name), b)
	})
}

func eachInTar(file io.Reader, add func(string, blob) error) error {
	t := tar.NewReader(file)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		default:
			return fmt.Errorf("archive entry '%v' is neither a file nor a directory", h.Name)
		}
		if err := add(path.Clean(h.Name), blob{io.NopCloser(t), h.Size}); err != nil {
			return err
		}
	}
}

func eachInZip(file blob, add func(string, blob) error) error {
	at, ok := file.ReadCloser.(io.ReaderAt)
	size := file.size
	if !ok {
		// The directory of a zip file is at its end.
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		at, size = bytes.NewReader(data), int64(len(data))
	}
	z, err := zip.NewReader(at, size)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := f.Open()
		if err != nil {
			return err
		}
		err = add(path.Clean(f.Name), blob{content, int64(f.UncompressedSize64)}) //nolint:gosec // checked when it is read
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
