package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// User is who a token belongs to.
type User struct {
	Login         string         `json:"githubLogin"`
	Name          string         `json:"name"`
	Organizations []Organization `json:"organizations"`
	Token         *TokenInfo     `json:"tokenInfo"`
}

// Organization is one that a user belongs to.
type Organization struct {
	Login string `json:"githubLogin"`
	Name  string `json:"name"`
}

// TokenInfo describes a token that is not a person's.
type TokenInfo struct {
	Name         string `json:"name"`
	Organization string `json:"organization,omitempty"`
	Team         string `json:"team,omitempty"`
}

// User returns who the token belongs to.
func (c *Client) User(ctx context.Context) (User, error) {
	var u User
	err := c.get(ctx, "/api/user", nil, &u)
	if err == nil && u.Login == "" {
		err = fmt.Errorf("the service at %s does not say whom the access token belongs to", c.base.Host)
	}
	return u, err
}

// DefaultOrganization returns the organization that the service takes stacks for that are named without one, "" if it has no opinion.
func (c *Client) DefaultOrganization(ctx context.Context) (string, error) {
	var out struct {
		Login string `json:"gitHubLogin"`
	}
	err := c.get(ctx, "/api/user/organizations/default", nil, &out)
	if Is(err, http.StatusNotFound) {
		return "", nil // an older service
	}
	return out.Login, err
}

// Capabilities are what a service can do beyond the least.
type Capabilities struct {
	Delta        bool // checkpoints as differences
	DeltaCutoff  int  // the size in bytes from which they are worth it
	BatchEncrypt bool
	// DeploymentVersion is the newest form of deployments that it takes; 0 if it does not say.
	DeploymentVersion int
	StackPolicies     bool
}

// Capabilities asks what the service can do.
func (c *Client) Capabilities(ctx context.Context) (Capabilities, error) {
	var out struct {
		Capabilities []struct {
			Capability    string          `json:"capability"`
			Version       int             `json:"version"`
			Configuration json.RawMessage `json:"configuration"`
		} `json:"capabilities"`
	}
	err := c.get(ctx, "/api/capabilities", nil, &out)
	if Is(err, http.StatusNotFound) {
		return Capabilities{}, nil // an older service
	}
	var all Capabilities
	for _, one := range out.Capabilities {
		var configuration struct {
			Cutoff  int `json:"checkpointCutoffSizeBytes"`
			Version int `json:"version"`
		}
		if len(one.Configuration) > 0 {
			_ = json.Unmarshal(one.Configuration, &configuration) // what has another form says nothing that is used here
		}
		switch {
		case one.Capability == "delta-checkpoint-uploads-v2" && one.Version == 2:
			all.Delta, all.DeltaCutoff = true, configuration.Cutoff
		case one.Capability == "batch-encrypt":
			all.BatchEncrypt = true
		case one.Capability == "deployment-schema-version" && one.Version == 1:
			all.DeploymentVersion = configuration.Version
		case one.Capability == "stack-policy-packs" && one.Version == 1:
			all.StackPolicies = true
		}
	}
	return all, err
}

// StackID names a stack.
type StackID struct{ Organization, Project, Name string }

func (s StackID) path(parts ...string) string {
	p := "/api/stacks/" + url.PathEscape(s.Organization) + "/" + url.PathEscape(s.Project) + "/" + url.PathEscape(s.Name)
	for _, part := range parts {
		p += "/" + url.PathEscape(part)
	}
	return p
}

// Stack is what the service says of one.
type Stack struct {
	Organization string            `json:"orgName"`
	Project      string            `json:"projectName"`
	Name         string            `json:"stackName"`
	Current      *Current          `json:"currentOperation"`
	ActiveUpdate string            `json:"activeUpdate"` // the latest update, running or not
	Tags         map[string]string `json:"tags"`
	Version      int               `json:"version"`
	Config       *StackConfig      `json:"config"`
}

// Current is an operation that runs.
type Current struct {
	Kind    string `json:"kind"`
	Author  string `json:"author"`
	Started int64  `json:"started"` // Unix seconds
}

// StackConfig says that the service keeps the settings of a stack: in an environment, with the key of their secrets.
type StackConfig struct {
	Environment     string `json:"environment"`
	SecretsProvider string `json:"secretsProvider"`
	EncryptedKey    string `json:"encryptedKey"`
	EncryptionSalt  string `json:"encryptionSalt"`
}

// Summary is a stack in a list.
type Summary struct {
	Organization  string `json:"orgName"`
	Project       string `json:"projectName"`
	Name          string `json:"stackName"`
	LastUpdate    *int64 `json:"lastUpdate"` // Unix seconds
	ResourceCount *int   `json:"resourceCount"`
}

// Filter says which stacks are listed; "" is no condition.
type Filter struct{ Project, Organization, TagName, TagValue string }

// Stacks lists the stacks that the user may see, all pages of the list.
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
	for {
		var page struct {
			Stacks []Summary `json:"stacks"`
			Next   *string   `json:"continuationToken"`
		}
		if err := c.get(ctx, "/api/user/stacks", query, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Stacks...)
		if page.Next == nil || *page.Next == "" {
			return all, nil
		}
		if query.Get("continuationToken") == *page.Next {
			return nil, fmt.Errorf("the service at %s: its list of stacks has no end", c.base.Host)
		}
		query.Set("continuationToken", *page.Next)
	}
}

// Stack returns one stack.
func (c *Client) Stack(ctx context.Context, s StackID) (Stack, error) {
	var out Stack
	err := c.get(ctx, s.path(), nil, &out)
	return out, err
}

// CreateStack makes a stack.
func (c *Client) CreateStack(ctx context.Context, s StackID, tags map[string]string) error {
	in := struct {
		Name string            `json:"stackName"`
		Tags map[string]string `json:"tags,omitempty"`
	}{s.Name, tags}
	var out struct{ Messages []Message }
	path := "/api/stacks/" + url.PathEscape(s.Organization) + "/" + url.PathEscape(s.Project)
	err := c.do(ctx, call{method: http.MethodPost, path: path, in: in, out: &out})
	c.notes(out.Messages)
	return err
}

// Message is something that the service has to say to people.
type Message struct {
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

func (c *Client) notes(all []Message) {
	for _, m := range all {
		c.note(m.Message)
	}
}

// DeleteStack removes a stack; with force, one that has resources too.
func (c *Client) DeleteStack(ctx context.Context, s StackID, force bool) error {
	return c.do(ctx, call{method: http.MethodDelete, path: s.path(), query: url.Values{"force": {strconv.FormatBool(force)}}})
}

// RenameStack gives a stack another name and project.
func (c *Client) RenameStack(ctx context.Context, s StackID, project, name string) error {
	in := map[string]string{"newName": name, "newProject": project}
	return c.do(ctx, call{method: http.MethodPost, path: s.path("rename"), in: in})
}

// SetTags replaces all tags of a stack.
func (c *Client) SetTags(ctx context.Context, s StackID, tags map[string]string) error {
	return c.do(ctx, call{method: http.MethodPatch, path: s.path("tags"), in: tags, repeat: true})
}

// Deployment is a state in the form in which it travels.
type Deployment struct {
	Version    int             `json:"version"`
	Features   []string        `json:"features,omitempty"`
	Deployment json.RawMessage `json:"deployment,omitempty"`
}

// Export returns the state of a stack; that of an older version of it if version is not 0.
func (c *Client) Export(ctx context.Context, s StackID, version int) (Deployment, error) {
	path := s.path("export")
	if version != 0 {
		path += "/" + strconv.Itoa(version)
	}
	var d Deployment
	err := c.get(ctx, path, nil, &d)
	return d, err
}

// Import replaces the state of a stack and returns the update that does it.
func (c *Client) Import(ctx context.Context, s StackID, d Deployment) (UpdateID, error) {
	var out struct {
		ID string `json:"updateId"`
	}
	err := c.do(ctx, call{method: http.MethodPost, path: s.path("import"), in: d, out: &out, squeeze: true})
	return UpdateID{s, out.ID}, err
}
