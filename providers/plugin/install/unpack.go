package install

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// limits bound the unpacked size of an archive: a small file can unpack to any size.
type limits struct {
	bytes   int64
	entries int
}

func standardLimits() limits { return limits{bytes: 16 << 30, entries: 1_000_000} }

// unpacking writes the files of an archive of unknown origin into a folder, and nowhere else (docs/decisions/0036).
type unpacking struct {
	root  *os.Root
	left  limits
	links []*tar.Header // made last, so that nothing is written through them
}

// unpack writes the files of a compressed tar archive into an empty folder.
func unpack(ctx context.Context, archive io.Reader, directory string, l limits) error {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return err
	}
	defer root.Close()
	buffered := bufio.NewReader(archive)
	head, _ := buffered.Peek(64)
	z, err := gzip.NewReader(buffered)
	if err != nil {
		return fmt.Errorf("it is not a .tar.gz archive: %s", beginsWith(head))
	}
	u := &unpacking{root: root, left: l}
	for t := tar.NewReader(&attentive{ctx, z}); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return u.link()
		}
		if err == nil {
			err = u.entry(h, t)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the archive is cut off: it ends in the middle of a file")
		}
		if err != nil {
			return err
		}
	}
}

func beginsWith(head []byte) string {
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return "it is a .zip archive"
	}
	if text := strings.ToLower(strings.TrimSpace(string(head))); strings.HasPrefix(text, "<!doctype html") || strings.HasPrefix(text, "<html") {
		return "it is a web page, perhaps one to log in at, or the message of a proxy"
	}
	return fmt.Sprintf("it begins with %q", head[:min(len(head), 4)])
}

// attentive ends with its context.
type attentive struct {
	ctx context.Context
	r   io.Reader
}

func (a *attentive) Read(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.r.Read(p)
}

func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	if u.left.entries--; u.left.entries < 0 {
		return errors.New("the archive has too many files for a plugin")
	}
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	name := path.Clean(h.Name)
	if strings.HasPrefix(h.Name, "/") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("the archive is refused: its entry %q leads out of the plugin's folder", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.root.MkdirAll(filepath.FromSlash(name), 0o755)
	case tar.TypeReg:
		return u.file(name, h, content)
	case tar.TypeSymlink, tar.TypeLink:
		u.links = append(u.links, h)
		return nil
	}
	return fmt.Errorf("the archive is refused: its entry %q is neither a file nor a folder nor a link", h.Name)
}

func (u *unpacking) file(name string, h *tar.Header, content io.Reader) error {
	if h.Size > u.left.bytes {
		return errors.New("the archive unpacks to more than a plugin may have")
	}
	u.left.bytes -= h.Size
	if err := u.parent(name); err != nil {
		return err
	}
	// Other users may not change files that run with the user's rights, and no file gets special rights.
	mode := h.FileInfo().Mode().Perm()&^0o022 | 0o600
	f, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func (u *unpacking) parent(name string) error {
	if parent := path.Dir(name); parent != "." {
		return u.root.MkdirAll(filepath.FromSlash(parent), 0o755)
	}
	return nil
}

// link makes the links, and checks their targets.
func (u *unpacking) link() error {
	for _, h := range u.links {
		name := path.Clean(h.Name)
		if err := u.parent(name); err != nil {
			return err
		}
		var err error
		if h.Typeflag == tar.TypeLink {
			err = u.root.Link(filepath.FromSlash(path.Clean(h.Linkname)), filepath.FromSlash(name))
		} else {
			err = u.root.Symlink(h.Linkname, filepath.FromSlash(name))
		}
		if err != nil {
			return fmt.Errorf("the archive is refused: its entry %q cannot be a link to %q: %w", h.Name, h.Linkname, err)
		}
	}
	for _, h := range u.links {
		// The root follows no link out of itself.
		if _, err := u.root.Stat(filepath.FromSlash(path.Clean(h.Name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the archive is refused: its entry %q is a link to %q, which leads out of the plugin's folder", h.Name, h.Linkname)
		}
	}
	return nil
}
