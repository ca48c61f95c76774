package api

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/pace"
)

// largeUpload is the size of a request body from which it is watched. Smaller ones are in the buffers of the system.
const largeUpload = 64 << 10

// upload is a request body on its way. It is watched from its first byte to its last: then the service is waited for.
type upload struct {
	rate pace.Rate
	stop func(error)

	mu    sync.Mutex // guards the fields below
	left  int        // bytes that were not read
	guard *pace.Guard
}

// took notes that n bytes were read.
func (u *upload) took(n int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left -= n
	if u.guard == nil && u.left > 0 {
		u.guard = pace.Watch(u.rate, u.stop)
	}
	if u.guard == nil {
		return
	}
	u.guard.Moved(n)
	if u.left <= 0 || errors.Is(err, io.EOF) {
		_ = u.guard.End() // End reports the error
	}
}

// End returns why the request was stopped, nil if it was not.
func (u *upload) End() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.guard == nil {
		return nil
	}
	return u.guard.End()
}

// uploading is the body of one request.
type uploading struct {
	content *bytes.Reader
	upload  *upload
}

// Read implements [io.Reader].
func (u *uploading) Read(p []byte) (int, error) {
	n, err := u.content.Read(p)
	u.upload.took(n, err)
	return n, err
}

// Close implements [io.Closer].
func (u *uploading) Close() error { return nil }
