package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/sluice-iac/sluice/internal/platform/pace"
)

// web fetches from HTTP servers.
type web struct {
	transport http.RoundTripper
	stall     time.Duration // after which a server that sends hardly anything is abandoned
	pause     time.Duration // after the first try that failed
}

// credential is a token for one server. It is never sent to another one, even if the first redirects there.
type credential struct {
	origin string // "https://api.github.com"
	value  string // of the header Authorization; "" sends nothing
}

// call is one request.
type call struct {
	url    string
	accept string
	secret credential
	header map[string]string
}

// slowest is the rate below which a transfer is abandoned.
func (w *web) slowest() pace.Rate {
	return pace.Rate{Window: w.stall, Bytes: max(1, pace.Slowest.Bytes*int64(w.stall)/int64(pace.Slowest.Window))}
}

// userAgent is the name that sluice sends to servers. GitHub refuses requests without one.
const userAgent = "sluice"

// do makes a call. If a server refuses a token, the call is repeated without it: tokens with few permissions are refused
// even for public files. The caller closes the body.
func (w *web) do(ctx context.Context, c call) (*http.Response, error) {
	response, err := w.once(ctx, c)
	var refused *StatusError
	if c.secret.value == "" || !errors.As(err, &refused) || refused.Code != http.StatusUnauthorized && refused.Code != http.StatusForbidden {
		return response, err
	}
	c.secret.value = ""
	return w.once(ctx, c)
}

func (w *web) once(ctx context.Context, c call) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	request.Header.Set("User-Agent", userAgent)
	request.Header.Set("Accept-Encoding", "identity") // the file itself is hashed and resumed
	if c.accept != "" {
		request.Header.Set("Accept", c.accept)
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	client := &http.Client{Transport: authorizing{w.transport, c.secret}, CheckRedirect: checkRedirect}
	response, err := client.Do(request)
	if err != nil {
		return nil, failure(err)
	}
	if response.StatusCode == http.StatusOK || response.StatusCode == http.StatusPartialContent {
		return response, nil
	}
	_ = response.Body.Close()
	return nil, refusal(response, c.secret)
}

// authorizing adds the credential to the requests to its origin.
type authorizing struct {
	next   http.RoundTripper
	secret credential
}

func (a authorizing) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.secret.value != "" && r.URL.Scheme+"://"+r.URL.Host == a.secret.origin {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", a.secret.value)
	}
	return a.next.RoundTrip(r)
}

// maxRedirects is the maximum number of redirects of a call.
const maxRedirects = 10

var (
	errRedirects = errors.New("there are too many redirects")
	errPlaintext = errors.New("the server redirects from https to http, which everybody on the way could change")
)

func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return errRedirects
	case via[0].URL.Scheme == "https" && r.URL.Scheme != "https":
		return errPlaintext
	}
	return nil
}

// checkProxy returns an error that names the proxy if it refuses the connection to a server.
func checkProxy(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy %s, which is that of HTTPS_PROXY, refuses: %s", proxy.Host, answer.Status)
}

// failure returns why there was no answer. The text has no URL, since that of a redirect may have a signature in it.
func failure(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	var dns *net.DNSError
	var operation *net.OpError
	switch {
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return fmt.Errorf("the proxy that HTTPS_PROXY or HTTP_PROXY names cannot be reached: %w", operation.Err)
	case errors.Is(err, errRedirects), errors.Is(err, errPlaintext):
		return backoff.Permanent(err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return backoff.Permanent(fmt.Errorf("unknown host %s", dns.Name))
	case strings.HasPrefix(err.Error(), "tls: "), strings.HasPrefix(err.Error(), "unsupported protocol scheme"):
		return backoff.Permanent(err)
	}
	return err
}

// maxRetryAfter is the longest pause before the next try that a server may ask for.
const maxRetryAfter = 30 * time.Second

// refusal returns the error of an answer, which is permanent unless another try may help.
func refusal(r *http.Response, secret credential) error {
	e := &StatusError{Code: r.StatusCode, Status: r.Status}
	if r.StatusCode == http.StatusForbidden && r.Header.Get("X-Ratelimit-Remaining") == "0" {
		e.Hint = "the server has had too many requests from here"
		if secret.value == "" {
			e.Hint += "; it allows more with a token in GITHUB_TOKEN"
		}
	}
	switch {
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode == http.StatusTooManyRequests, r.StatusCode >= 500:
		seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
		wait := time.Duration(seconds) * time.Second
		switch {
		case err != nil || seconds <= 0:
			return e
		case wait > maxRetryAfter:
			e.Hint = fmt.Sprintf("the server asks to wait for %s", wait)
			return backoff.Permanent(e)
		}
		return errors.Join(e, backoff.RetryAfter(seconds))
	}
	return backoff.Permanent(e)
}

// maxDocument is the maximum size of a document beside archives, such as the description of a release.
const maxDocument = 8 << 20

// document fetches a small file.
func (w *web) document(ctx context.Context, c call) ([]byte, error) {
	return retry(ctx, w.tries(), func() ([]byte, error) {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		response, err := w.do(ctx, c)
		if err != nil {
			return nil, err
		}
		response.Body = pace.Body(response.Body, w.slowest(), stop)
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
		if len(text) > maxDocument {
			return nil, backoff.Permanent(fmt.Errorf("the answer has more than %d MiB", maxDocument>>20))
		}
		return text, err
	})
}

// The rules for repeating failed calls (protocol.md 1.11).
const (
	maxTries   = 6 // the first one, and five more
	firstPause = 80 * time.Millisecond
)

// tries are the pauses between tries: each twice as long as the one before. It satisfies [backoff.BackOff].
type tries struct {
	pause time.Duration
	done  int
}

func (w *web) tries() *tries { return &tries{pause: w.pause} }

// NextBackOff returns the pause before the next try.
func (t *tries) NextBackOff() time.Duration {
	if t.done++; t.done >= maxTries {
		return backoff.Stop
	}
	return t.pause << (t.done - 1)
}

// Reset does nothing: a server that asks for a pause does not get more tries.
func (t *tries) Reset() {}

// renew starts the count again: a try has brought data.
func (t *tries) renew() { t.done = 0 }

// retry repeats a failing call, unless the error is permanent.
func retry[T any](ctx context.Context, t *tries, do func() (T, error)) (T, error) {
	v, err := backoff.Retry(ctx, do, backoff.WithBackOff(t), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() != nil {
		return v, context.Cause(ctx)
	}
	var wait *backoff.RetryAfterError
	var e *StatusError
	if errors.As(err, &wait) && errors.As(err, &e) {
		return v, e
	}
	return v, err
}
