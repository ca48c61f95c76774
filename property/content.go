package property

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
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

// onDisk copies a content to a temporary file unless it is in a file already: its size is needed before it is read, or it
// is read from the end. The caller closes the result and not b.
func (ar AssetReader) onDisk(b blob) (blob, error) {
	if b.file != nil {
		return b, nil
	}
	defer b.Close()
	f, err := os.CreateTemp("", "sluice-asset-*")
	if err != nil {
		return blob{}, err
	}
	limit := ar.limit()
	n, err := io.Copy(f, io.LimitReader(b, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it is larger than %s", sizeText(limit))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	t := temporary{f}
	if err != nil {
		return blob{}, errors.Join(err, t.Close())
	}
	return blob{t, n, f}, nil
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

func (ar AssetReader) open(ctx context.Context, a Asset) (blob, error) {
	switch a.Kind {
	case KindText:
		return blob{io.NopCloser(strings.NewReader(a.Text)), int64(len(a.Text)), nil}, nil
	case KindPath:
		return openFile(ctx, ar.resolve(a.Path))
	case KindURI:
		u, err := url.Parse(a.URI)
		if err != nil {
			return blob{}, err
		}
		return ar.openURL(ctx, u)
	default:
		return blob{}, errNoContent
	}
}

var errNoContent = errors.New("only its hash is known, not its content")

func (ar AssetReader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(ar.Dir, path)
}

// openFile opens a file, or the target of a link.
func openFile(ctx context.Context, path string) (blob, error) {
	info, err := os.Stat(path)
	if err != nil {
		return blob{}, err
	}
	if info.IsDir() {
		return blob{}, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a directory; try using an archive")}
	}
	f, info, err := openRegular(path, info)
	if err != nil {
		return blob{}, err
	}
	return blob{attentive{ctx, f}, info.Size(), f}, nil
}

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

func (ar AssetReader) openURL(ctx context.Context, u *url.URL) (blob, error) {
	switch u.Scheme {
	case "http", "https":
		return ar.download(ctx, u)
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return blob{}, fmt.Errorf("file:// host '%v' not supported (only localhost)", u.Host)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return blob{}, fmt.Errorf("file URI '%v' must have nothing but a path", u.Redacted())
		}
		return openFile(ctx, u.Path)
	default:
		return blob{}, fmt.Errorf("Unrecognized or unsupported URI scheme: %v", u.Scheme) //nolint:staticcheck // known text
	}
}

// Downloads are tried a few times, because a program cannot do so itself.
const (
	downloadAttempts = 3
	downloadPause    = 500 * time.Millisecond
)

func (ar AssetReader) download(ctx context.Context, u *url.URL) (blob, error) {
	var last error
	for attempt := range downloadAttempts {
		if attempt > 0 {
			if err := sleep(ctx, downloadPause<<(attempt-1)); err != nil {
				return blob{}, errors.Join(err, last)
			}
		}
		b, again, err := ar.downloadOnce(ctx, u)
		if err == nil || !again {
			return b, err
		}
		last = err
	}
	return blob{}, last
}

func (ar AssetReader) downloadOnce(ctx context.Context, u *url.URL) (b blob, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return blob{}, false, err
	}
	client := ar.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return blob{}, ctx.Err() == nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
		return blob{}, again, fmt.Errorf("download of %s: the server answered %s", u.Redacted(), resp.Status)
	}
	return blob{resp.Body, resp.ContentLength, nil}, false, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
