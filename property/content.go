package property

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// blob is an open content. size is -1 when it is not known before the end.
type blob struct {
	io.ReadCloser
	size int64
}

// sized reads a blob of unknown size into memory: a tar header needs the size before the content.
func (b blob) sized() (blob, error) {
	if b.size >= 0 {
		return b, nil
	}
	defer b.Close()
	data, err := io.ReadAll(b)
	return blob{io.NopCloser(bytes.NewReader(data)), int64(len(data))}, err
}

func (r AssetReader) open(ctx context.Context, a Asset) (blob, error) {
	switch a.Kind {
	case KindText:
		return blob{io.NopCloser(strings.NewReader(a.Text)), int64(len(a.Text))}, nil
	case KindPath:
		return openFile(r.resolve(a.Path))
	case KindURI:
		u, err := url.Parse(a.URI)
		if err != nil {
			return blob{}, err
		}
		return r.openURL(ctx, u)
	default:
		return blob{}, errNoContent
	}
}

var errNoContent = errors.New("only its hash is known, not its content")

func (r AssetReader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.Dir, path)
}

func openFile(path string) (blob, error) {
	info, err := os.Stat(path)
	if err != nil {
		return blob{}, err
	}
	if info.IsDir() {
		return blob{}, fmt.Errorf("asset path '%v' is a directory; try using an archive", path)
	}
	if !info.Mode().IsRegular() {
		// Opening a pipe would wait for its other end.
		return blob{}, fmt.Errorf("'%v' is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return blob{}, err
	}
	return blob{f, info.Size()}, nil
}

func (r AssetReader) openURL(ctx context.Context, u *url.URL) (blob, error) {
	switch u.Scheme {
	case "http", "https":
		return r.download(ctx, u)
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return blob{}, fmt.Errorf("file:// host '%v' not supported (only localhost)", u.Host)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return blob{}, fmt.Errorf("file URI '%v' must have nothing but a path", u.Redacted())
		}
		return openFile(u.Path)
	default:
		return blob{}, fmt.Errorf("Unrecognized or unsupported URI scheme: %v", u.Scheme) //nolint:staticcheck // known text
	}
}

// Downloads are tried a few times, because a program cannot do so itself.
const (
	downloadAttempts = 3
	downloadPause    = 500 * time.Millisecond
)

func (r AssetReader) download(ctx context.Context, u *url.URL) (blob, error) {
	var last error
	for attempt := range downloadAttempts {
		if attempt > 0 {
			if err := sleep(ctx, downloadPause<<(attempt-1)); err != nil {
				return blob{}, errors.Join(err, last)
			}
		}
		b, again, err := r.downloadOnce(ctx, u)
		if err == nil || !again {
			return b, err
		}
		last = err
	}
	return blob{}, last
}

func (r AssetReader) downloadOnce(ctx context.Context, u *url.URL) (b blob, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return blob{}, false, err
	}
	client := r.Client
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
	return blob{resp.Body, resp.ContentLength}, false, nil
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
