package property

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
)

type archiveFormat uint8

const (
	notArchive archiveFormat = iota
	tarArchive
	gzipArchive
	zipArchive
)

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
