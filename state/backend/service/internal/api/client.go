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

	"github.com/sluice-iac/sluice/internal/platform/pace"
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

// Download opens a file to which the service refers, at any address, without the token. A reference from an encrypted connection must lead to an
// encrypted one, too: the file will be run.
func (c *Client) Download(ctx context.Context, location string) (io.ReadCloser, error) {
	at, err := url.Parse(location)
	if err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
		return nil, errors.New("the service does not say where it can be downloaded")
	}
	web := &http.Client{Transport: c.http.Transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return backoff.Permanent(errors.New("there are too many redirects"))
		}
		return c.mayDownload(r.URL)
	}}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = c.options.Pause
	body, err := backoff.Retry(ctx, func() (io.ReadCloser, error) {
		if err := c.mayDownload(at); err != nil {
			return nil, err
		}
		return open(ctx, web, at, c.options.Slowest)
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(c.options.Patience))
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Err
	}
	return body, err
}

func (c *Client) mayDownload(at *url.URL) error {
	if c.base.Scheme == "https" && at.Scheme != "https" {
		return backoff.Permanent(fmt.Errorf("%s is not reached over an encrypted connection, so the download cannot be trusted", at.Host))
	}
	return nil
}

// Environments returns the calls for the environments of an organization.
func (c *Client) Environments(organization string) Environments { return Environments{c, organization} }

// SaveEntries adds entries to the journal of an update. It may be repeated with the same entries.
func (c *Client) SaveEntries(ctx context.Context, l *Lease, all []Entry) error {
	in := struct {
		Entries []Entry `json:"entries"`
	}{all}
	err := c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("journalentries"), in: in, lease: l, repeat: true, squeeze: true,
	}, &nothing{})
	if half := len(all) / 2; Is(err, http.StatusRequestEntityTooLarge) && half > 0 {
		if err = c.SaveEntries(ctx, l, all[:half]); err == nil {
			err = c.SaveEntries(ctx, l, all[half:])
		}
	}
	return err
}

// Secrets returns the calls with the key of a stack.
func (c *Client) Secrets(s StackID) Secrets { return Secrets{c, s} }

// User returns the owner of the token.
func (c *Client) User(ctx context.Context) (User, error) {
	var u User
	err := c.get(ctx, "/api/user", nil, &u)
	return u, err
}

// DefaultOrganization returns the service's default organization for stacks named without one, "" if it has none.
func (c *Client) DefaultOrganization(ctx context.Context) (string, error) {
	var out organization
	err := c.get(ctx, "/api/user/organizations/default", nil, &out)
	if Is(err, http.StatusNotFound) {
		return "", nil // an older service
	}
	return out.Login, err
}

// Capabilities returns the abilities of the service.
func (c *Client) Capabilities(ctx context.Context) (Capabilities, error) {
	var out capabilities
	err := c.get(ctx, "/api/capabilities", nil, &out)
	if Is(err, http.StatusNotFound) {
		return Capabilities{}, nil // an older service
	}
	var all Capabilities
	for _, one := range out.Capabilities {
		var how configuration
		if decode(one.Configuration, &how) != nil {
			how = configuration{}
		}
		switch {
		case one.Capability == "delta-checkpoint-uploads-v2" && one.Version == 2:
			all.Delta, all.DeltaCutoff = true, how.Cutoff
		case one.Capability == "batch-encrypt":
			all.BatchEncrypt = true
		case one.Capability == "deployment-schema-version" && one.Version == 1:
			all.DeploymentVersion = how.Version
		case one.Capability == "stack-policy-packs" && one.Version == 1:
			all.StackPolicies = true
		}
	}
	return all, err
}

// Stacks lists the stacks that are visible to the user, all pages of the list.
func (c *Client) Stacks(ctx context.Context, f Filter) ([]Summary, error) {
	var all []Summary
	query := url.Values{}
	for name, value := range map[string]string{
		"project": f.Project, "organization": f.Organization, "tagName": f.TagName, "tagValue": f.TagValue,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	seen := map[string]bool{} // the tokens of pages
	for {
		var page stacks
		if err := c.get(ctx, "/api/user/stacks", query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Stacks...)
		if page.Next == nil || *page.Next == "" {
			return all, nil
		}
		if seen[*page.Next] {
			return nil, fmt.Errorf("the service at %s: its list of stacks has no end", c.base.Host)
		}
		seen[*page.Next] = true
		query.Set("continuationToken", *page.Next)
	}
}

// Stack returns one stack.
func (c *Client) Stack(ctx context.Context, s StackID) (Stack, error) {
	var out Stack
	err := c.get(ctx, s.path(), nil, &out)
	if err == nil && (!strings.EqualFold(out.Project, s.Project) || !strings.EqualFold(out.Name, s.Name)) {
		err = &WrongAnswerError{c.base.Host, "GET " + s.path(), fmt.Errorf("it is about the stack %s/%s", out.Project, out.Name)}
	}
	return out, err
}

// CreateStack makes a stack.
func (c *Client) CreateStack(ctx context.Context, s StackID, tags map[string]string) error {
	in := struct {
		Name string            `json:"stackName"`
		Tags map[string]string `json:"tags,omitempty"`
	}{s.Name, tags}
	var out messages
	path := "/api/stacks/" + url.PathEscape(s.Organization) + "/" + url.PathEscape(s.Project)
	err := c.do(ctx, call{method: http.MethodPost, path: path, in: in}, &out)
	c.notes(out.Messages)
	return err
}

func (c *Client) notes(all []Message) {
	for _, m := range all {
		c.note(m.Message)
	}
}

// DeleteStack removes a stack; with force, one that has resources too.
func (c *Client) DeleteStack(ctx context.Context, s StackID, force bool) error {
	return c.do(ctx, call{method: http.MethodDelete, path: s.path(), query: url.Values{"force": {strconv.FormatBool(force)}}}, &nothing{})
}

// RenameStack gives a stack another name and project.
func (c *Client) RenameStack(ctx context.Context, s StackID, project, name string) error {
	in := map[string]string{"newName": name, "newProject": project}
	return c.do(ctx, call{method: http.MethodPost, path: s.path("rename"), in: in}, &nothing{})
}

// SetTags replaces all tags of a stack.
func (c *Client) SetTags(ctx context.Context, s StackID, tags map[string]string) error {
	return c.do(ctx, call{method: http.MethodPatch, path: s.path("tags"), in: tags, repeat: true}, &nothing{})
}

// Export returns the state of a stack; that of an older version of it if version is not 0.
func (c *Client) Export(ctx context.Context, s StackID, version int) (Deployment, error) {
	path := s.path("export")
	if version != 0 {
		path += "/" + strconv.Itoa(version)
	}
	var d Deployment
	err := c.do(ctx, call{method: http.MethodGet, path: path, repeat: true, large: true}, &d)
	return d, err
}

// Import replaces the state of a stack and returns the update that does it.
func (c *Client) Import(ctx context.Context, s StackID, d Deployment) (UpdateID, error) {
	var out imported
	err := c.do(ctx, call{method: http.MethodPost, path: s.path("import"), in: d, squeeze: true}, &out)
	return UpdateID{s, out.ID}, err
}

// StackPolicies returns the policy packs that updates of a stack must be held to.
func (c *Client) StackPolicies(ctx context.Context, s StackID) ([]RequiredPolicy, error) {
	var out policies
	err := c.get(ctx, s.path("policypacks"), nil, &out)
	return out.Policies, err
}

// CreateUpdate makes an update. kind is "update", "preview", "refresh" or "destroy".
func (c *Client) CreateUpdate(ctx context.Context, s StackID, kind string, p Program) (Created, error) {
	var out created
	err := c.do(ctx, call{method: http.MethodPost, path: s.path(kind), in: p}, &out)
	c.notes(out.Messages)
	return Created{UpdateID{s, out.ID}, out.Policies}, err
}

// StartUpdate begins an update and replaces the tags of the stack. journal is the newest version of the journal that the caller can
// write. An answer with the status 409 means that another update runs.
func (c *Client) StartUpdate(ctx context.Context, u UpdateID, tags map[string]string, journal int) (*Lease, error) {
	in := struct {
		Tags    map[string]string `json:"tags,omitempty"`
		Journal int               `json:"journalVersion,omitempty"`
	}{tags, journal}
	out := started{offered: journal}
	if err := c.do(ctx, call{method: http.MethodPost, path: u.path(), in: in}, &out); err != nil {
		return nil, err
	}
	return &Lease{Update: u, Version: out.Version, Journal: out.Journal, token: out.Token}, nil
}

// Renew makes a lease last for some time from now.
func (c *Client) Renew(ctx context.Context, l *Lease, lasts time.Duration) error {
	in := struct {
		Token    string `json:"token"` // former versions of the interface had it here
		Duration int    `json:"duration"`
	}{"", int(lasts / time.Second)}
	var out renewed
	err := c.do(ctx, call{method: http.MethodPost, path: l.Update.path("renew_lease"), in: in, lease: l, repeat: true}, &out)
	if err == nil {
		l.set(out.Token)
	}
	return err
}

// SaveCheckpoint replaces the state of the stack.
func (c *Client) SaveCheckpoint(ctx context.Context, l *Lease, d Deployment) error {
	in := struct {
		Invalid bool `json:"isInvalid"`
		Deployment
	}{false, d}
	return c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("checkpoint"), in: in, lease: l, repeat: true, squeeze: true,
	}, &nothing{})
}

// SaveVerbatim replaces the state of the stack by one to which differences can refer.
func (c *Client) SaveVerbatim(ctx context.Context, l *Lease, v Verbatim) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("checkpointverbatim"), in: v, lease: l, repeat: true, squeeze: true,
	}, &nothing{})
}

// SaveDelta changes the state of the stack.
func (c *Client) SaveDelta(ctx context.Context, l *Lease, d Delta) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("checkpointdelta"), in: d, lease: l, repeat: true, squeeze: true,
	}, &nothing{})
}

// SaveEvents records events of the engine.
func (c *Client) SaveEvents(ctx context.Context, l *Lease, events []json.RawMessage) error {
	in := struct {
		Events []json.RawMessage `json:"events"`
	}{events}
	return c.do(ctx, call{
		method: http.MethodPost, path: l.Update.path("events", "batch"), in: in, lease: l, repeat: true, squeeze: true,
	}, &nothing{})
}

// Events returns a page of the recorded events of an update, and the token of the next page, "" after the last one. The first page has the
// token "".
func (c *Client) Events(ctx context.Context, u UpdateID, f EventFilter, token string) (page []json.RawMessage, next string, err error) {
	query := url.Values{}
	if token != "" {
		query.Set("continuationToken", token)
	}
	for _, t := range f.Types {
		query.Add("type", t)
	}
	if f.URN != "" {
		query.Set("urn", f.URN)
	}
	if f.Undecided {
		query.Set("include_non_activated", "true")
	}
	var out recorded
	if err := c.get(ctx, u.path("events"), query, &out); err != nil {
		return nil, "", err
	}
	if out.Next != nil {
		next = *out.Next
	}
	if next != "" && next == token {
		return nil, "", fmt.Errorf("the service at %s: its list of events has no end", c.base.Host)
	}
	return out.Events, next, nil
}

// Complete ends an update.
func (c *Client) Complete(ctx context.Context, l *Lease, status string) error {
	in := map[string]string{"status": status}
	return c.do(ctx, call{method: http.MethodPost, path: l.Update.path("complete"), in: in, lease: l, repeat: true}, &nothing{})
}

// Cancel ends an update of another process, or one without a process.
func (c *Client) Cancel(ctx context.Context, u UpdateID) error {
	return c.do(ctx, call{method: http.MethodPost, path: u.path("cancel"), repeat: true}, &nothing{})
}

// Status returns the status of an update, and a token for the next call; "" if the update has ended.
func (c *Client) Status(ctx context.Context, u UpdateID) (now, next string, err error) {
	var out status
	err = c.get(ctx, u.path(), nil, &out)
	if out.Next != nil {
		next = *out.Next
	}
	return out.Status, next, err
}

// History returns a page of the history, the newest first. Pages begin with 1.
func (c *Client) History(ctx context.Context, s StackID, size, page int) ([]Info, error) {
	var out history
	query := url.Values{"pageSize": {strconv.Itoa(size)}, "page": {strconv.Itoa(page)}}
	err := c.get(ctx, s.path("updates"), query, &out)
	return out.Updates, err
}
