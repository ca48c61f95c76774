package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/sluice-iac/sluice/internal/platform/pace"
)

// download fetches one file, and continues an earlier download of it that was cut off, also one of another process. The
// lock of the place is held.
type download struct {
	web      *web
	call     call
	file     string // the fetched part; beside it, in a file that ends in .json, is the JSON of a beginning
	progress func(done, total int64)
	tries    *tries
	silence  *time.Timer // reports that nothing has come for the time patience
	patience time.Duration
}

// beginning describes the file that a fetched part belongs to.
type beginning struct {
	URL       string `json:"url"`
	Validator string `json:"validator"` // of this version of the file: an entity tag, or a time
	Total     int64  `json:"total"`     // 0 if it is unknown
}

// The bounds of a download.
const (
	maxArchive = 8 << 30
	// minGain is the number of bytes after which a try does not count as failed.
	minGain = 64 << 10
)

// run downloads the file until it is complete. The fetched part is kept for a later download, unless it cannot be written: then
// it may be what fills the disk.
func (d *download) run(ctx context.Context) error {
	d.tries = d.web.tries()
	_, err := retry(ctx, d.tries, func() (struct{}, error) { return struct{}{}, d.try(ctx) })
	if info, there := os.Stat(d.file); errors.As(err, new(*os.PathError)) || err != nil && there == nil && info.Size() == 0 {
		removeAll(d.file, d.file+".json")
	}
	return err
}

func (d *download) try(ctx context.Context) error {
	f, err := os.OpenFile(d.file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return backoff.Permanent(err)
	}
	err = d.fill(ctx, f)
	return errors.Join(err, f.Close())
}

func (d *download) fill(ctx context.Context, f *os.File) error {
	begun, have := d.begun(f)
	if have > 0 && have == begun.Total {
		return nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	response, err := d.ask(ctx, begun, have)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		have, begun = 0, beginning{URL: d.call.url, Validator: validator(response.Header), Total: max(response.ContentLength, 0)}
	}
	if begun.Total > maxArchive {
		return backoff.Permanent(fmt.Errorf("the file has %d bytes, which is more than a plugin may have", begun.Total))
	}
	if err := d.begin(f, begun, have); err != nil {
		return backoff.Permanent(err)
	}
	return d.copy(ctx, stop, f, response.Body, begun, have)
}

// begun returns the part of the file that was fetched before.
func (d *download) begun(f *os.File) (beginning, int64) {
	var b beginning
	text, err := os.ReadFile(d.file + ".json")
	info, errInfo := f.Stat()
	if errors.Join(err, errInfo) != nil || json.Unmarshal(text, &b) != nil || b.URL != d.call.url || b.Validator == "" ||
		b.Total > 0 && info.Size() > b.Total {
		return beginning{}, 0
	}
	return b, info.Size()
}

// ask requests the file, or the rest of it if the file has not changed since.
func (d *download) ask(ctx context.Context, begun beginning, have int64) (*http.Response, error) {
	c := d.call
	if have > 0 {
		c.header = map[string]string{"Range": fmt.Sprintf("bytes=%d-", have), "If-Range": begun.Validator}
	}
	response, err := d.web.do(ctx, c)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Code == http.StatusRequestedRangeNotSatisfiable && have > 0 {
		_ = os.Remove(d.file + ".json") // the next try starts from the beginning
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusPartialContent {
		return response, nil
	}
	if at := response.Header.Get("Content-Range"); have == 0 || !strings.HasPrefix(at, fmt.Sprintf("bytes %d-", have)) {
		_ = response.Body.Close()
		_ = os.Remove(d.file + ".json")
		return nil, fmt.Errorf("the server sent another part of the file than requested (%s)", at)
	}
	return response, nil
}

// begin records the file that the fetched part belongs to, and cuts the part to the length have.
func (d *download) begin(f *os.File, b beginning, have int64) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if err := f.Truncate(have); err != nil {
		return err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return err
	}
	return os.WriteFile(d.file+".json", text, 0o600)
}

var errStalled = errors.New("the server has almost stopped sending")

func (d *download) copy(
	ctx context.Context, stop context.CancelCauseFunc, f *os.File, body io.Reader, b beginning, have int64,
) error {
	moving := pace.Watch(d.web.slowest(), func(error) { stop(errStalled) })
	defer func() { _ = moving.End() }() // a read has ended with it
	began, buffer := have, make([]byte, 128<<10)
	d.progress(have, b.Total)
	for {
		n, err := body.Read(buffer)
		moving.Moved(n)
		if _, failed := f.Write(buffer[:n]); failed != nil {
			return backoff.Permanent(failed)
		}
		have += int64(n)
		if have-began >= minGain {
			d.tries.renew()
		}
		if n > 0 {
			d.silence.Reset(d.patience)
			d.progress(have, b.Total)
		}
		switch {
		case have > maxArchive:
			return backoff.Permanent(fmt.Errorf("the file is too large for a plugin"))
		case errors.Is(err, io.EOF) && (b.Total == 0 || have == b.Total):
			return nil
		case errors.Is(err, io.EOF):
			return d.cut(have, b.Total)
		case err != nil && context.Cause(ctx) == errStalled: //nolint:errorlint // it is what stop was given
			return fmt.Errorf("after %d of %d bytes %w", have, b.Total, errStalled)
		case err != nil && ctx.Err() != nil:
			return backoff.Permanent(context.Cause(ctx))
		case errors.Is(err, io.ErrUnexpectedEOF):
			return d.cut(have, b.Total)
		case err != nil:
			return failure(err)
		}
	}
}

func (d *download) cut(have, total int64) error {
	return fmt.Errorf("the connection ended after %d of %d bytes", have, total)
}

// validator identifies the version of a file on its server. A weak entity tag does not: its file may have other bytes.
func validator(h http.Header) string {
	if tag := h.Get("Etag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		return tag
	}
	return h.Get("Last-Modified")
}
