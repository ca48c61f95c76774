package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// session is how long an environment that was opened can be read.
const session = 2 * time.Hour

// OpenEnvironment evaluates a definition and returns its properties as JSON. Unless opened is set it is only checked.
func (c *Client) OpenEnvironment(ctx context.Context, organization string, definition []byte, opened bool) (map[string]json.RawMessage, error) {
	var out struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	base := "/api/esc/environments/" + url.PathEscape(organization) + "/yaml/"
	if !opened {
		err := c.do(ctx, call{
			method: http.MethodPost, path: base + "check", query: url.Values{"showSecrets": {strconv.FormatBool(false)}}, text: definition, out: &out, repeat: true,
		})
		return out.Properties, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := c.do(ctx, call{
		method: http.MethodPost, path: base + "open", query: url.Values{"duration": {session.String()}}, text: definition, out: &made, repeat: true,
	}); err != nil {
		return nil, err
	}
	err := c.get(ctx, base+"open/"+url.PathEscape(made.ID), nil, &out)
	return out.Properties, err
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
