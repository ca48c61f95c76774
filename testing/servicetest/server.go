package servicetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options select the features and the users of the service.
type Options struct {
	// Users are the names of the users by their access tokens.
	Users map[string]string
	// Anyone accepts each token "pul-NAME" for a user NAME.
	Anyone bool
	// Members are the users of each organization. A user's own organization need not be listed.
	Members map[string][]string
	// DefaultOrganization is the organization of names without one, "" for the user's own.
	DefaultOrganization string
	// Journal enables journals, Delta differences, and Batch secrets in batches.
	Journal, Delta, Batch bool
	// OneByOne disables the calls for secrets in batches, as in older services. MaxBatch is the maximal size of a batch, 0 for no limit.
	OneByOne bool
	MaxBatch int
	// PageSize is the number of stacks or events on a page; 0 means 2.
	PageSize int
	// Delay is the minimal duration of each call.
	Delay time.Duration
	// Policies are the policy packs that each update of an organization must be checked against.
	Policies map[string][]RequiredPolicy
	// Environments are the definitions of environments, by "organization/project/name".
	Environments map[string]string
	// Lease is the lifetime of an update's token; 0 means 5 minutes. After it, another update may begin.
	Lease time.Duration
}

// RequiredPolicy is a policy pack that updates must be checked against.
type RequiredPolicy struct {
	Name         string                     `json:"name"`
	Version      int                        `json:"version"`
	VersionTag   string                     `json:"versionTag"`
	DisplayName  string                     `json:"displayName"`
	Location     string                     `json:"packLocation,omitempty"` // "" means that the server serves the Archive
	Config       map[string]json.RawMessage `json:"config,omitempty"`
	Environments []string                   `json:"environments,omitempty"`
	Archive      []byte                     `json:"-"`
}

// Server is the service. It is safe for concurrent use.
type Server struct {
	options Options
	http    *httptest.Server

	mu         sync.Mutex // guards the rest
	stacks     map[string]*stack
	faults     []*Fault
	calls      []Call
	violations []string
	chance     chance
	sessions   map[string]map[string]*value // opened environments, by organization and ID

	environments map[string]string // definitions, by "organization/project/name"

	late sync.WaitGroup // calls whose callers have gone
}

// Call is one request to the server.
type Call struct {
	Method, Path, Query string
	Body                json.RawMessage // uncompressed; a string if it is not JSON; nil if there was no body
	Status              int             // of the answer; 0 if there was none
	User                string          // the user of its access token, or "lease"
}

// Fault makes calls fail.
type Fault struct {
	// Call is the method and a part of the path: "PATCH checkpoint". "" is any.
	Call string `json:"call"`
	// After is the number of such calls before the fault, and Times the number of calls that fail; 0 means all further ones.
	After int `json:"after"`
	Times int `json:"times"`
	// Status is the status of the reply; 0 cuts the connection. With Done, the call has its effect all the same.
	Status int `json:"status"`
	// Delay is the number of milliseconds by which the effect of such a call is delayed, so that others overtake it. It is then answered as usual;
	// with Done, the connection is cut before.
	Delay      int    `json:"delay"`
	RetryAfter string `json:"retryAfter"`
	Done       bool   `json:"done"`
	// Redirect is the target of a redirect; Status must be that of one.
	Redirect string `json:"redirect"`
	// Body is the body of the reply; nil is an error message. Header is added to its header, and Pause is the delay in milliseconds before each byte.
	Body   *string           `json:"body"`
	Header map[string]string `json:"header"`
	Pause  int               `json:"pause"`
	// Struck is called first when a call meets the fault. It may be nil.
	Struck func() `json:"-"`
}

// New starts a server on the loopback interface, which keeps its data only in memory.
func New(o Options) *Server {
	s := newServer(o)
	s.http = httptest.NewServer(s)
	return s
}

// NewTLS starts a server with a certificate that no client trusts.
func NewTLS(o Options) *Server {
	s := newServer(o)
	s.http = httptest.NewTLSServer(s)
	return s
}

func newServer(o Options) *Server {
	if o.PageSize == 0 {
		o.PageSize = 2
	}
	if o.Lease == 0 {
		o.Lease = 5 * time.Minute
	}
	environments := maps.Clone(o.Environments)
	if environments == nil {
		environments = map[string]string{}
	}
	return &Server{options: o, stacks: map[string]*stack{}, sessions: map[string]map[string]*value{}, environments: environments}
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.http.URL }

// Close stops the server.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
	s.late.Wait()
}

// Inject adds a fault.
func (s *Server) Inject(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Heal removes all faults, waits for the effects of delayed calls, and returns how many calls of faults with a number were still to fail.
func (s *Server) Heal() (left int) {
	defer s.late.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		left += f.Times
	}
	s.faults = nil
	return left
}

// Calls returns the calls so far, and clears the list.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// Violations returns the calls that the service would not expect.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// refused is an error reply.
type refused struct {
	status  int
	message string
}

func (r *refused) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refused{status, fmt.Sprintf(format, args...)}
}

// violation is the refusal of a call that no correct client makes.
type violation struct{ message string }

func (v *violation) Error() string { return v.message }

func violate(format string, args ...any) error { return &violation{fmt.Sprintf(format, args...)} }

// request is a call in progress.
type request struct {
	*http.Request
	body []byte
	user string // of its access token; "" for none
	// lease is the token of an update; "" for none.
	lease string
}

// into reads the body strictly.
func (r *request) into(v any) error {
	d := json.NewDecoder(strings.NewReader(string(r.body)))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return violate("%s %s: the body: %v", r.Method, r.URL.Path, err)
	}
	return nil
}

// ServeHTTP handles a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	if s.options.Delay > 0 {
		time.Sleep(s.options.Delay)
	}
	fault := s.strike(h)
	if fault != nil && fault.isLate() {
		defer s.late.Done()
	}
	if fault != nil && fault.Struck != nil {
		fault.Struck()
	}
	late := false
	if fault != nil && fault.Delay > 0 {
		body, err := io.ReadAll(h.Body)
		if err != nil {
			return // the caller has gone
		}
		h.Body = io.NopCloser(bytes.NewReader(body))
		if fault.Done {
			cut(w)
			w, late = httptest.NewRecorder(), true // the reply is dropped
		}
		time.Sleep(time.Duration(fault.Delay) * time.Millisecond)
		fault = nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if path, is := strings.CutPrefix(h.URL.Path, "/packs/"); is {
		s.download(w, h, path, fault)
		return
	}
	call := Call{Method: h.Method, Path: h.URL.Path, Query: h.URL.RawQuery}
	if fault != nil && !fault.Done {
		call.Status = fault.Status
		s.calls = append(s.calls, call)
		s.fail(w, fault)
		return
	}
	s.chance.next()
	r, err := s.read(h)
	var out any
	if r != nil {
		call.User, call.Body = r.user, inJSON(r.body)
		if r.lease != "" {
			call.User = "lease"
		}
	}
	if err == nil {
		if out, err = s.route(r); err == nil {
			err = s.chance.save(r)
		}
	}
	switch e := err.(type) {
	case nil:
		call.Status = http.StatusOK
	case *refused:
		call.Status = e.status
	case *diagnosed:
		call.Status = http.StatusBadRequest
	default:
		call.Status = http.StatusBadRequest
		if !late { // otherwise the caller may have gone on
			s.violations = append(s.violations, err.Error())
		}
	}
	s.calls = append(s.calls, call)
	if fault != nil {
		s.fail(w, fault)
		return
	}
	if d, is := err.(*diagnosed); is {
		out = d.body()
	} else if err != nil {
		out = map[string]any{"code": call.Status, "message": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	if h.Method == http.MethodPatch && strings.HasPrefix(h.URL.Path, "/api/esc/environments/") {
		w.Header().Set("Pulumi-ESC-Revision", "2") // the first definition, after the empty one
	}
	w.WriteHeader(call.Status)
	if out != nil {
		_ = json.NewEncoder(w).Encode(out) // the caller may have gone
	}
}

// inJSON returns the body of a call, nil if it has none. A body that is not JSON becomes a string.
func inJSON(body []byte) json.RawMessage {
	switch {
	case len(body) == 0:
		return nil
	case json.Valid(body):
		return json.RawMessage(body)
	}
	text, _ := json.Marshal(string(body)) // a text always marshals
	return text
}

// cut closes the connection of a caller. Its call goes on.
func cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.Close() // the caller may have been faster
	}
}

// read checks the common parts of a call.
func (s *Server) read(h *http.Request) (*request, error) {
	r := &request{Request: h}
	var body io.Reader = h.Body
	switch h.Header.Get("Content-Encoding") {
	case "":
	case "gzip":
		z, err := gzip.NewReader(h.Body)
		if err != nil {
			return nil, violate("%s %s: the body is not compressed: %v", h.Method, h.URL.Path, err)
		}
		body = z
	default:
		return nil, violate("%s %s: unknown encoding", h.Method, h.URL.Path)
	}
	var err error
	if r.body, err = io.ReadAll(body); err != nil {
		return nil, violate("%s %s: the body: %v", h.Method, h.URL.Path, err)
	}
	if !strings.HasPrefix(h.Header.Get("Accept"), "application/vnd.pulumi+") {
		return r, violate("%s %s: no version of the interface: %q", h.Method, h.URL.Path, h.Header.Get("Accept"))
	}
	if len(r.body) > 0 && h.Header.Get("Content-Type") != "application/json" {
		return r, violate("%s %s: a body that is not called JSON", h.Method, h.URL.Path)
	}
	kind, token, _ := strings.Cut(h.Header.Get("Authorization"), " ")
	switch kind {
	case "":
	case "token":
		user, known := s.options.Users[token]
		if name, is := strings.CutPrefix(token, "pul-"); is && s.options.Anyone && !known {
			user, known = name, true
		}
		if !known {
			return r, refuse(http.StatusUnauthorized, "Unauthorized: No credentials provided or are invalid.")
		}
		r.user = user
	case "update-token":
		r.lease = token
	default:
		return r, violate("%s %s: unknown kind of token %q", h.Method, h.URL.Path, kind)
	}
	if r.user == "" && r.lease == "" {
		return r, refuse(http.StatusUnauthorized, "Unauthorized: No credentials provided or are invalid.")
	}
	return r, nil
}

// isLate reports whether a call has its effect after its caller has gone.
func (f *Fault) isLate() bool { return f.Done && f.Delay > 0 }

// strike returns the fault for a call, nil if there is none.
func (s *Server) strike(h *http.Request) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		method, part, _ := strings.Cut(f.Call, " ")
		if f.Call != "" && (h.Method != method || !strings.Contains(h.URL.Path, part)) {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				s.faults = slices.Delete(s.faults, i, i+1)
			}
		}
		if f.isLate() {
			s.late.Add(1)
		}
		return f
	}
	return nil
}

// fail answers a call that fails. Other calls go on in the meantime. s.mu is held.
func (s *Server) fail(w http.ResponseWriter, f *Fault) {
	s.mu.Unlock()
	defer s.mu.Lock()
	f.answer(w)
}

func (f *Fault) answer(w http.ResponseWriter) {
	if f.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	if f.Redirect != "" {
		w.Header().Set("Location", f.Redirect)
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	if f.Body == nil {
		_ = json.NewEncoder(w).Encode(map[string]any{"code": f.Status, "message": "a fault of the test"})
		return
	}
	if f.Pause == 0 {
		_, _ = io.WriteString(w, *f.Body) // the caller may have gone
		return
	}
	for i := range len(*f.Body) {
		time.Sleep(time.Duration(f.Pause) * time.Millisecond)
		_, err := io.WriteString(w, (*f.Body)[i:i+1])
		if err != nil || http.NewResponseController(w).Flush() != nil {
			return // the caller has gone
		}
	}
}

// isMember reports whether a user belongs to an organization.
func (s *Server) isMember(user, organization string) bool {
	return user == organization || slices.Contains(s.options.Members[organization], user)
}

// organizations lists the organizations of a user, its own first.
func (s *Server) organizations(user string) []string {
	all := []string{user}
	for name := range s.options.Members {
		if name != user && s.isMember(user, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all[1:])
	return all
}

// parts returns the elements of a path below /api/.
func parts(path string) []string {
	return strings.Split(strings.TrimPrefix(path, "/api/"), "/")
}

// route handles a call by its path. s.mu is held.
func (s *Server) route(r *request) (any, error) {
	p := parts(r.URL.Path)
	switch {
	case r.URL.Path == "/api/user":
		return s.user(r)
	case r.URL.Path == "/api/user/stacks":
		return s.list(r)
	case r.URL.Path == "/api/user/organizations/default":
		if s.options.DefaultOrganization == "" {
			return map[string]string{"GitHubLogin": r.user}, nil
		}
		return map[string]string{"GitHubLogin": s.options.DefaultOrganization}, nil
	case r.URL.Path == "/api/capabilities":
		return s.capabilities(), nil
	case r.URL.Path == "/api/cli/version":
		return map[string]string{"latestVersion": "v3.0.0", "oldestWithoutWarning": "v3.0.0"}, nil
	case len(p) >= 3 && p[0] == "esc" && p[1] == "environments":
		return s.routeEnvironments(r, p[2:])
	case len(p) >= 3 && p[0] == "stacks":
		return s.routeStack(r, p[1:])
	}
	return nil, violate("%s %s: there is no such call", r.Method, r.URL.Path)
}

func (s *Server) user(r *request) (any, error) {
	if r.user == "" {
		return nil, refuse(http.StatusUnauthorized, "Unauthorized: an access token is needed.")
	}
	var organizations []map[string]string
	for _, name := range s.organizations(r.user) {
		organizations = append(organizations, map[string]string{"githubLogin": name, "name": name})
	}
	return map[string]any{"id": "u-" + r.user, "githubLogin": r.user, "name": r.user, "organizations": organizations}, nil
}

func (s *Server) capabilities() any {
	type capability struct {
		Name          string         `json:"capability"`
		Version       int            `json:"version,omitempty"`
		Configuration map[string]any `json:"configuration,omitempty"`
	}
	all := []capability{{Name: "deployment-schema-version", Version: 1, Configuration: map[string]any{"version": 4}}}
	if s.options.Delta {
		all = append(all, capability{"delta-checkpoint-uploads-v2", 2, map[string]any{"checkpointCutoffSizeBytes": 0}})
	}
	if s.options.Batch {
		all = append(all, capability{Name: "batch-encrypt"})
	}
	return map[string]any{"capabilities": all}
}
