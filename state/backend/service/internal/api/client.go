package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/json"
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

	"github.com/sluice-iac/sluice/internal/pace"
)

// Options define the address of the service and the account.
type Options struct {
	URL      string // "https://api.pulumi.com", without a path
	Token    string // "" for anonymous calls
	Insecure bool   // do not verify the certificate of the server
	Version  string // of sluice
	// Note is called with messages of the service for people. It may be nil.
	Note func(string)
	// Patience is how long a call is repeated; 0 means a minute. Pause is the time before the first repetition; 0 means half a second.
	Patience, Pause time.Duration
	// Slowest is the rate below which a transfer is ended; zero means [pace.Slowest].
	Slowest pace.Rate
}

// Client is safe for concurrent use.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client
}

// answerTime is the minimum time for an answer: a slow service is not an absent one.
const answerTime = time.Minute

// New returns a client. Nothing is sent.
func New(o Options) (*Client, error) {
	base, err := url.Parse(o.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("%q is not the address of a service; write a URL such as https://api.pulumi.com", o.URL)
	}
	if base.User != nil {
		return nil, errors.New("the address of a service has no user and no password in it; the access token is in PULUMI_ACCESS_TOKEN")
	}
	if !isToken(o.Token) {
		return nil, errors.New("the access token is none: it has spaces, control characters or other letters than those of ASCII in it")
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	if o.Pause == 0 {
		o.Pause = time.Second / 2
	}
	if o.Slowest == (pace.Rate{}) {
		o.Slowest = pace.Slowest
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.ResponseHeaderTimeout = max(o.Patience, answerTime)
	if o.Insecure {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	}
	return &Client{options: o, base: base, http: &http.Client{Transport: transport, CheckRedirect: sameOrigin}}, nil
}

// isToken reports whether a text has only characters that are valid in a header.
func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

// errElsewhere is the error for a redirect that would send the token to another host.
var errElsewhere = errors.New("it refers to another address, which sluice does not follow: the access token is for this one")

// errOtherCall is the error for a redirect that would change the call.
var errOtherCall = errors.New("it redirects to another address with a status that drops the request body")

const maxRedirects = 5

func sameOrigin(r *http.Request, via []*http.Request) error {
	if r.URL.Scheme != via[0].URL.Scheme || r.URL.Host != via[0].URL.Host {
		return errElsewhere
	}
	if r.Method != via[0].Method {
		return errOtherCall
	}
	if len(via) > maxRedirects {
		return errors.New("there are too many redirects")
	}
	return nil
}

// URL is the address that the client was made for.
func (c *Client) URL() string { return c.options.URL }

// Insecure reports whether certificates are not verified.
func (c *Client) Insecure() bool { return c.options.Insecure }

// Close closes the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// call is one request.
type call struct {
	method, path string
	query        url.Values
	in           any    // JSON; nil for none
	text         []byte // sent as it is, instead of in
	lease        *Lease // whose token authorizes the call; nil for the access token
	repeat       bool   // a repetition has no further effect
	squeeze      bool   // the body is compressed
	large        bool   // the answer is a state
}

// acceptVersion is the version of the interface: leases by their own token (5), pages of lists (8), both forms of secret values (9).
const acceptVersion = "application/vnd.pulumi+9"

// do makes a call, and repeats it while the service is away if that does no harm. out has its answer if there is no error.
func (c *Client) do(ctx context.Context, k call, out answer) error {
	body := k.text
	if k.in != nil {
		var err error
		if body, err = json.Marshal(k.in); err != nil {
			return err
		}
	}
	if k.squeeze {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = c.options.Pause, 10*time.Second
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, c.once(ctx, k, body, out)
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(c.options.Patience))
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Err
	}
	var later *laterError
	if errors.As(err, &later) {
		err = later.err
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// laterError is an answer that asks for a later repetition.
type laterError struct {
	err   error
	after *backoff.RetryAfterError
}

func (e *laterError) Error() string   { return e.err.Error() }
func (e *laterError) Unwrap() []error { return []error{e.err, e.after} }

func (c *Client) once(ctx context.Context, k call, sent []byte, out answer) error {
	what := k.method + " " + k.path
	target := c.base.String() + k.path // whose elements are escaped
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	request, err := http.NewRequestWithContext(ctx, k.method, target, bytes.NewReader(sent))
	if err != nil {
		return backoff.Permanent(err)
	}
	c.setHeader(request, k)
	upload := watch(request, sent, c.options.Slowest, stop)
	response, err := c.http.Do(request)
	if slow := upload.End(); slow != nil {
		err = slow
	}
	if err != nil {
		return c.away(ctx, k, what, err)
	}
	response.Body = pace.Body(response.Body, c.options.Slowest, stop)
	defer response.Body.Close()
	for _, text := range response.Header.Values("X-Pulumi-Warning") {
		c.note(text)
	}
	limit := int64(maxAnswer)
	isAnswer := response.StatusCode >= 200 && response.StatusCode < 300
	switch {
	case !isAnswer:
		limit = maxError
	case k.large:
		limit = maxState
	}
	text, err := body(response, limit)
	var form *formError
	switch {
	case !isAnswer && (err == nil || errors.As(err, &form)):
		return refusal(response, text, k, what)
	case errors.As(err, &form):
		return backoff.Permanent(&WrongAnswerError{c.base.Host, what, form.err})
	case err != nil:
		return c.away(ctx, k, what, err)
	}
	if err := decode(text, out); err != nil {
		return backoff.Permanent(&WrongAnswerError{c.base.Host, what, err})
	}
	return nil
}

// watch stops a request if the server takes its body too slowly. A small body is in the system's buffers at once.
func watch(r *http.Request, sent []byte, rate pace.Rate, stop func(error)) *upload {
	u := &upload{left: len(sent), rate: rate, stop: stop}
	if len(sent) < largeUpload {
		return u
	}
	r.GetBody = func() (io.ReadCloser, error) { return &uploading{bytes.NewReader(sent), u}, nil }
	r.Body = &uploading{bytes.NewReader(sent), u}
	return u
}

func (c *Client) setHeader(r *http.Request, k call) {
	r.Header.Set("User-Agent", "sluice/"+c.options.Version)
	r.Header.Set("Accept", acceptVersion)
	r.Header.Set("Accept-Encoding", "gzip") // the answer is unpacked here, with a bounded size
	r.Header.Set("Content-Type", "application/json")
	if k.squeeze {
		r.Header.Set("Content-Encoding", "gzip")
	}
	switch {
	case k.lease != nil:
		r.Header.Set("Authorization", "update-token "+k.lease.Token())
	case c.options.Token != "":
		r.Header.Set("Authorization", "token "+c.options.Token)
	}
}

// away returns the error of a call without an answer. The call is repeated if it cannot have had an effect, or if a
// repetition does no harm.
func (c *Client) away(ctx context.Context, k call, what string, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the URL is in the message already
	}
	e := &AwayError{Host: c.base.Host, Call: what, Err: err}
	var dial *net.OpError
	unsent := errors.As(err, &dial) && dial.Op == "dial"
	var badCertificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errElsewhere), errors.Is(err, errOtherCall), errors.As(err, &badCertificate), ctx.Err() != nil, !k.repeat && !unsent:
		return backoff.Permanent(e)
	}
	return e
}

// refusal returns the error of an answer. A rate limit means that nothing was done.
func refusal(r *http.Response, answer []byte, k call, what string) error {
	e := errorOf(r, answer, what)
	limited := e.Status == http.StatusTooManyRequests
	if !limited && (!k.repeat || e.Status < 500 || e.Status == http.StatusNotImplemented) {
		return backoff.Permanent(e)
	}
	if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return &laterError{err: e, after: &backoff.RetryAfterError{Duration: time.Duration(seconds) * time.Second}}
	}
	return e
}

func (c *Client) note(text string) {
	if c.options.Note != nil {
		c.options.Note(text)
	}
}

// get is a call that changes nothing.
func (c *Client) get(ctx context.Context, path string, query url.Values, out answer) error {
	return c.do(ctx, call{method: http.MethodGet, path: path, query: query, repeat: true}, out)
}
