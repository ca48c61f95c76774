package property

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
)

// unpacking reads the files of one archive file, which may be malicious. Nothing is written anywhere, links are not
// followed, and the bytes that are read are counted: a small file can unpack to any size.
type unpacking struct {
	ctx    context.Context
	files  counter // the contents of the files
	stream counter // the whole archive before it is divided into files, with the parts that nobody reads
	add    func(name string, b blob) error
}

// counter is the rest of a limit.
type counter struct{ limit, left int64 }

func (c *counter) excess() error {
	return fmt.Errorf("the archive unpacks to more than %s; put its files into a directory, or use it as the whole archive", sizeText(c.limit))
}

func sizeText(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// counted subtracts the bytes that are read from a limit.
type counted struct {
	io.Reader
	from *counter
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.from.left -= int64(n); c.from.left < 0 {
		return 0, c.from.excess()
	}
	return n, err
}

// entry passes a file on. size is the size that the archive declares.
func (u *unpacking) entry(name string, size int64, content io.Reader) error {
	if size < 0 || size > u.files.left {
		return u.files.excess()
	}
	return u.add(path.Clean(name), blob{attentive{u.ctx, io.NopCloser(counted{content, &u.files})}, size, nil})
}

func (u *unpacking) tar(file io.Reader) error {
	t := tar.NewReader(counted{attentive{u.ctx, io.NopCloser(file)}, &u.stream})
	for {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
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
		case tar.TypeLink:
			return fmt.Errorf("archive entry '%v' is a hard link; pack the file that it refers to instead", h.Name)
		case tar.TypeSymlink:
			return fmt.Errorf("archive entry '%v' is a symbolic link; pack the file that it refers to instead", h.Name)
		default:
			return fmt.Errorf("archive entry '%v' is neither a file nor a directory", h.Name)
		}
		if err := u.entry(h.Name, h.Size, t); err != nil {
			return err
		}
	}
}

// zip treats links as files: Pulumi takes them for files that contain their target, and hashes have to be the same.
func (u *unpacking) zip(file blob) error {
	z, err := zip.NewReader(file.file, file.size)
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := f.Open()
		if err != nil {
			return fmt.Errorf("archive entry '%v': %w", f.Name, err)
		}
		err = u.entry(f.Name, int64(f.UncompressedSize64), content) //nolint:gosec // a size below 0 is refused
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
