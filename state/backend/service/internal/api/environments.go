package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// sessionTime is the time in which an opened environment can be read.
const sessionTime = 2 * time.Hour

// Environments are calls for the environments of an organization.
type Environments struct {
	client       *Client
	organization string
}

func (e Environments) path(parts ...string) string {
	path := "/api/esc/environments/" + url.PathEscape(e.organization)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// properties are the properties of an environment.
type properties struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// check accepts an environment without properties, which has other members.
func (*properties) check(given members) error {
	for _, name := range []string{"properties", "exprs", "schema", "executionContext"} {
		if given.need(name) == nil {
			return nil
		}
	}
	return errors.New(`it has no "properties", and nothing else of an environment`)
}

// session is an environment that was opened.
type session struct {
	ID string `json:"id"`
}

func (a *session) check(members) error { return text("id", a.ID) }

// diagnostics are the problems of a definition.
type diagnostics struct {
	Diagnostics []Diagnostic `json:"diagnostics"`
}

func (*diagnostics) check(members) error { return nil }

// Check evaluates a definition without opening anything, and returns its properties as JSON.
func (e Environments) Check(ctx context.Context, definition []byte) (map[string]json.RawMessage, error) {
	var out properties
	err := e.client.do(ctx, call{
		method: http.MethodPost, path: e.path("yaml", "check"), query: url.Values{"showSecrets": {strconv.FormatBool(false)}},
		text: definition, repeat: true,
	}, &out)
	return out.Properties, err
}

// Open evaluates a definition and returns its properties as JSON. overrides are environments by the names of those that they replace.
func (e Environments) Open(ctx context.Context, definition []byte, overrides map[string]string) (map[string]json.RawMessage, error) {
	query := url.Values{"duration": {sessionTime.String()}}
	if len(overrides) > 0 {
		text, err := json.Marshal(overrides)
		if err != nil {
			return nil, err
		}
		query.Set("environmentOverrides", base64.RawURLEncoding.EncodeToString(text))
	}
	var made session
	if err := e.client.do(ctx, call{
		method: http.MethodPost, path: e.path("yaml", "open"), query: query, text: definition, repeat: true,
	}, &made); err != nil {
		return nil, err
	}
	var out properties
	err := e.client.get(ctx, e.path("yaml", "open", made.ID), nil, &out)
	return out.Properties, err
}

// Create makes an empty environment.
func (e Environments) Create(ctx context.Context, project, name string) error {
	in := map[string]string{"project": project, "name": name}
	return e.client.do(ctx, call{method: http.MethodPost, path: e.path(), in: in}, &nothing{})
}

// Set gives an environment a definition, and returns its problems.
func (e Environments) Set(ctx context.Context, project, name string, definition []byte) ([]Diagnostic, error) {
	var out diagnostics
	err := e.client.do(ctx, call{method: http.MethodPatch, path: e.path(project, name), text: definition, repeat: true}, &out)
	return out.Diagnostics, err
}

// Delete removes an environment.
func (e Environments) Delete(ctx context.Context, project, name string) error {
	return e.client.do(ctx, call{method: http.MethodDelete, path: e.path(project, name), repeat: true}, &nothing{})
}

// Diagnostic is a problem in the definition of an environment.
type Diagnostic struct {
	Range struct {
		Environment string `json:"environment"`
		Begin       struct {
			Line   int `json:"line"`
			Column int `json:"column"`
		} `json:"begin"`
	} `json:"range"`
	Summary string `json:"summary"`
	Detail  string `json:"detail"`
}
