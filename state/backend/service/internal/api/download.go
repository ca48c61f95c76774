package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/cenkalti/backoff/v5"

	"github.com/sluice-iac/sluice/internal/platform/pace"
)

// maxDownload is the maximum size of a download.
const maxDownload = 1 << 30

// open makes one attempt. Errors contain only the host: anybody with the whole address may download, too.
func open(ctx context.Context, web *http.Client, at *url.URL, slowest pace.Rate) (io.ReadCloser, error) {
	ctx, stop := context.WithCancelCause(ctx)
	body, err := openUntil(ctx, stop, web, at, slowest)
	if err != nil {
		stop(nil)
	}
	return body, err
}

// openUntil is open with a function that stops the download.
func openUntil(ctx context.Context, stop context.CancelCauseFunc, web *http.Client, at *url.URL, slowest pace.Rate) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, backoff.Permanent(errors.New("the address of the download is not a valid URL"))
	}
	response, err := web.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if errors.As(err, new(*tls.CertificateVerificationError)) {
			err = backoff.Permanent(err)
		}
		return nil, fmt.Errorf("%s cannot be reached: %w", at.Host, err)
	}
	if response.StatusCode == http.StatusOK {
		return &bounded{pace.Body(response.Body, slowest, stop), maxDownload, stop}, nil
	}
	_ = response.Body.Close()
	err = fmt.Errorf("%s answers %s", at.Host, response.Status)
	if response.StatusCode < 500 && response.StatusCode != http.StatusTooManyRequests {
		err = backoff.Permanent(err)
	}
	return nil, err
}

// bounded is a download with a maximum size.
type bounded struct {
	body io.ReadCloser
	left int64
	stop context.CancelCauseFunc
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errors.New("it is too long")
	}
	return n, err
}

// Close implements [io.Closer].
func (b *bounded) Close() error {
	defer b.stop(nil)
	return b.body.Close()
}
