package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// session is how long an environment that was opened can be read.
const session = 2 * time.Hour

// environmentPath is that of an organization's environments, or of a part of them.
func environmentPath(organization string, parts ...string) string {
	path := "/api/esc/environments/" + url.PathEscape(organization)
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

// properties are those of an environment.
type properties struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// CheckEnvironment evaluates a definition without opening anything, and returns its properties as JSON.
func (c *Client) CheckEnvironment(ctx context.Context, organization string, definition []byte) (map[string]json.RawMessage, error) {
	var out properties
	err := c.do(ctx, call{
		method: http.MethodPost, path: environmentPath(organization, "yaml", "check"), query: url.Values{"showSecrets": {strconv.FormatBool(false)}},
		text: definition, out: &out, repeat: true,
	})
	return out.Properties, err
}

// OpenEnvironment evaluates a definition and returns its properties as JSON. overrides are environments by the names of those whose place they take.
func (c *Client) OpenEnvironment(ctx context.Context, organization string, definition []byte, overrides map[string]string) (map[string]json.RawMessage, error) {
	query := url.Values{"duration": {session.String()}}
	if len(overrides) > 0 {
		text, err := json.Marshal(overrides)
		if err != nil {
			return nil, err
		}
		query.Set("environmentOverrides", base64.RawURLEncoding.EncodeToString(text))
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := c.do(ctx, call{
		method: http.MethodPost, path: environmentPath(organization, "yaml", "open"), query: query, text: definition, out: &made, repeat: true,
	}); err != nil {
		return nil, err
	}
	var out properties
	err := c.get(ctx, environmentPath(organization, "yaml", "open", made.ID), nil, &out)
	return out.Properties, err
}

// CreateEnvironment makes an environment that is empty.
func (c *Client) CreateEnvironment(ctx context.Context, organization, project, name string) error {
	in := map[string]string{"project": project, "name": name}
	return c.do(ctx, call{method: http.MethodPost, path: environmentPath(organization), in: in})
}

// SetEnvironment gives an environment a definition, and returns what is wrong with it.
func (c *Client) SetEnvironment(ctx context.Context, organization, project, name string, definition []byte) ([]Diagnostic, error) {
	var out struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	err := c.do(ctx, call{method: http.MethodPatch, path: environmentPath(organization, project, name), text: definition, out: &out, repeat: true})
	return out.Diagnostics, err
}

// Diagnostic says what is wrong with the definition of an environment.
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
