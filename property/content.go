package property

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// blob is an open content. size is -1 until the end if nothing gives it before.
type blob struct {
	io.ReadCloser
	size int64
	file *os.File // the file with the content, for reading in any order; nil for none
}

// attentive ends a content with an error when its context ends, so that reading a long content can be interrupted, also
// one that is packed to seem long.
type attentive struct {
	ctx context.Context
	io.ReadCloser
}

func (a attentive) Read(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		return 0, context.Cause(a.ctx)
	}
	return a.ReadCloser.Read(p)
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

// openRegular refuses anything but a regular file before it opens it: opening a pipe would wait for its other end, and a
// device may have no end.
func openRegular(path string, info fs.FileInfo) (*os.File, fs.FileInfo, error) {
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is " + kindOf(info.Mode()) + ", and not a file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil { // it may be another file by now
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// kindOf names the kind of a file that is not regular.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular one"
}

// ReadFile reads a file that becomes a value. It is an error if path is not a regular file, since others may have no
// end, or if the file has more than [MaxSize] bytes. An error of the file is an [*fs.PathError].
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unopened(err)
	}
	f, info, err := openRegular(path, info)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %s; use an asset", sizeText(MaxSize))}
	if info.Size() > MaxSize {
		return nil, tooLarge
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1)) // it may grow
	if err == nil && len(text) > MaxSize {
		err = tooLarge
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// unopened turns the error of looking at a file into the error of opening it.
func unopened(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return &fs.PathError{Op: "open", Path: of.Path, Err: of.Err}
	}
	return err
}
