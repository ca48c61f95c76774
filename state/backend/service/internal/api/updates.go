package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// UpdateID names an update of a stack, of whatever kind.
type UpdateID struct {
	Stack StackID
	ID    string
}

// path names all updates as if they were of the kind "update": the service takes them by their ID.
func (u UpdateID) path(parts ...string) string {
	return u.Stack.path(append([]string{"update", u.ID}, parts...)...)
}

// ConfigValue is a setting as the service records it.
type ConfigValue struct {
	String string `json:"string"` // JSON if Object is set; a ciphertext, or with ciphertexts in it, if Secret is
	Secret bool   `json:"secret"`
	Object bool   `json:"object"`
}

// Program describes an update that is to be made.
type Program struct {
	Name        string                 `json:"name"`
	Runtime     string                 `json:"runtime"`
	Main        string                 `json:"main"`
	Description string                 `json:"description"`
	Options     ProgramOptions         `json:"options"`
	Config      map[string]ConfigValue `json:"config"`
	Metadata    Metadata               `json:"metadata"`
}

// ProgramOptions are those that the service records.
type ProgramOptions struct {
	PolicyPacks []string `json:"localPolicyPackPaths"`
	Color       string   `json:"color"`
	DryRun      bool     `json:"dryRun"`
	Parallel    int32    `json:"parallel"`
}

// Metadata says why and from where an update is made.
type Metadata struct {
	Message     string            `json:"message"`
	Environment map[string]string `json:"environment"`
}

// RequiredPolicy is a policy pack that an update has to be held to.
type RequiredPolicy struct {
	Name         string                     `json:"name"`
	Version      int                        `json:"version"`
	VersionTag   string                     `json:"versionTag"`
	DisplayName  string                     `json:"displayName"`
	Location     string                     `json:"packLocation"`
	Config       map[string]json.RawMessage `json:"config"`
	Environments []string                   `json:"environments"`
}

// StackPolicies returns the policy packs that updates of a stack have to be held to.
func (c *Client) StackPolicies(ctx context.Context, s StackID) ([]RequiredPolicy, error) {
	var out struct {
		Policies []RequiredPolicy `json:"requiredPolicies"`
	}
	err := c.get(ctx, s.path("policypacks"), nil, &out)
	return out.Policies, err
}

// Created is an update that has been made and has not begun.
type Created struct {
	ID       UpdateID
	Policies []RequiredPolicy
}

// CreateUpdate makes an update. kind is "update", "preview", "refresh" or "destroy".
func (c *Client) CreateUpdate(ctx context.Context, s StackID, kind string, p Program) (Created, error) {
	var out struct {
		ID       string           `json:"updateID"`
		Policies []RequiredPolicy `json:"requiredPolicies"`
		Messages []Message        `json:"messages"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: s.path(kind), in: p, out: &out})
	c.notes(out.Messages)
	return Created{UpdateID{s, out.ID}, out.Policies}, err
}

// Lease is the right to carry out an update. It is safe for concurrent use.
type Lease struct {
	Update  UpdateID
	Version int // of the stack when the update is complete
	// Journal is the version of the journal that the service takes instead of checkpoints; 0 for none.
	Journal int

	mu    sync.Mutex // guards token
	token string
}

// Token returns the present token.
func (l *Lease) Token() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.token
}

func (l *Lease) set(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token = token
}

// StartUpdate begins an update and replaces the tags of the stack. journal is the newest version of the journal that the caller can
// write. An answer with the status 409 says that another update runs.
func (c *Client) StartUpdate(ctx context.Context, u UpdateID, tags map[string]string, journal int) (*Lease, error) {
	in := struct {
		Tags    map[string]string `json:"tags,omitempty"`
		Journal int               `json:"journalVersion,omitempty"`
	}{tags, journal}
	var out struct {
		Version int    `json:"version"`
		Token   string `json:"token"`
		Journal int    `json:"journalVersion"`
	}
	if err := c.do(ctx, call{method: http.MethodPost, path: u.path(), in: in, out: &out}); err != nil {
		return nil, err
	}
	return &Lease{Update: u, Version: out.Version, Journal: out.Journal, token: out.Token}, nil
}

// LeaseTime is how long a lease lasts that has begun, and the longest time that it can be renewed for.
const LeaseTime = 5 * time.Minute

// Renew makes a lease last for some time from now.
func (c *Client) Renew(ctx context.Context, l *Lease, lasts time.Duration) error {
	in := struct {
		Token    string `json:"token"` // former versions of the interface had it here
		Duration int    `json:"duration"`
	}{"", int(lasts / time.Second)}
	var out struct {
		Token string `json:"token"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: l.Update.path("renew_lease"), in: in, out: &out, lease: l, repeat: true})
	if err == nil && out.Token != "" {
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
	})
}

// Verbatim is a checkpoint whose bytes count: later ones are differences from it.
type Verbatim struct {
	Version  int             `json:"version"`
	Content  json.RawMessage `json:"untypedDeployment"`
	Sequence int             `json:"sequenceNumber"` // grows with every checkpoint of an update
}

// SaveVerbatim replaces the state of the stack by one that differences can refer to.
func (c *Client) SaveVerbatim(ctx context.Context, l *Lease, v Verbatim) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("checkpointverbatim"), in: v, lease: l, repeat: true, squeeze: true,
	})
}

// Delta is a checkpoint as the difference from the one before.
type Delta struct {
	Version  int             `json:"version"`
	Hash     string          `json:"checkpointHash"` // SHA-256 of the result, in hex
	Sequence int             `json:"sequenceNumber"`
	Delta    json.RawMessage `json:"deploymentDelta"` // edits of the text
}

// SaveDelta changes the state of the stack.
func (c *Client) SaveDelta(ctx context.Context, l *Lease, d Delta) error {
	return c.do(ctx, call{
		method: http.MethodPatch, path: l.Update.path("checkpointdelta"), in: d, lease: l, repeat: true, squeeze: true,
	})
}

// SaveEvents records events of the engine.
func (c *Client) SaveEvents(ctx context.Context, l *Lease, events []json.RawMessage) error {
	in := struct {
		Events []json.RawMessage `json:"events"`
	}{events}
	return c.do(ctx, call{
		method: http.MethodPost, path: l.Update.path("events", "batch"), in: in, lease: l, repeat: true, squeeze: true,
	})
}

// The ends of an update.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
)

// Complete ends an update.
func (c *Client) Complete(ctx context.Context, l *Lease, status string) error {
	in := map[string]string{"status": status}
	return c.do(ctx, call{method: http.MethodPost, path: l.Update.path("complete"), in: in, lease: l, repeat: true})
}

// Cancel ends an update that another process makes, or that nobody makes any more.
func (c *Client) Cancel(ctx context.Context, u UpdateID) error {
	return c.do(ctx, call{method: http.MethodPost, path: u.path("cancel"), repeat: true})
}

// Status returns what has become of an update, and a token to ask for more with; "" if it has ended.
func (c *Client) Status(ctx context.Context, u UpdateID) (status, next string, err error) {
	var out struct {
		Status string  `json:"status"`
		Next   *string `json:"continuationToken"`
	}
	err = c.get(ctx, u.path(), nil, &out)
	if out.Next != nil {
		next = *out.Next
	}
	return out.Status, next, err
}

// Info is an update in the history of a stack.
type Info struct {
	Kind            string                 `json:"kind"`
	StartTime       int64                  `json:"startTime"`
	Message         string                 `json:"message"`
	Environment     map[string]string      `json:"environment"`
	Config          map[string]ConfigValue `json:"config"`
	Result          string                 `json:"result"`
	EndTime         int64                  `json:"endTime"`
	Version         int                    `json:"version"`
	ResourceChanges map[string]int         `json:"resourceChanges"`
}

// History returns a page of the history, the newest first. Pages begin with 1.
func (c *Client) History(ctx context.Context, s StackID, size, page int) ([]Info, error) {
	var out struct {
		Updates []Info `json:"updates"`
	}
	query := url.Values{"pageSize": {strconv.Itoa(size)}, "page": {strconv.Itoa(page)}}
	err := c.get(ctx, s.path("updates"), query, &out)
	return out.Updates, err
}
