package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// User is the owner of a token.
type User struct {
	Login         string         `json:"githubLogin"`
	Name          string         `json:"name"`
	Organizations []Organization `json:"organizations"`
	Token         *TokenInfo     `json:"tokenInfo"`
}

// Organization is an organization of a user.
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

func (u *User) check(members) error {
	if err := text("githubLogin", u.Login); err != nil {
		return err
	}
	for _, o := range u.Organizations {
		if err := text("githubLogin", o.Login); err != nil {
			return fmt.Errorf("an organization: %w", err)
		}
	}
	return nil
}

// User returns the owner of the token.
func (c *Client) User(ctx context.Context) (User, error) {
	var u User
	err := c.get(ctx, "/api/user", nil, &u)
	return u, err
}

// organization is the answer of the call for the default organization, whose name may be empty.
type organization struct {
	Login string `json:"gitHubLogin"`
}

func (*organization) check(given members) error { return given.need("gitHubLogin") }

// DefaultOrganization returns the service's default organization for stacks named without one, "" if it has none.
func (c *Client) DefaultOrganization(ctx context.Context) (string, error) {
	var out organization
	err := c.get(ctx, "/api/user/organizations/default", nil, &out)
	if Is(err, http.StatusNotFound) {
		return "", nil // an older service
	}
	return out.Login, err
}

// Capabilities are optional abilities of a service.
type Capabilities struct {
	Delta        bool // checkpoints as differences
	DeltaCutoff  int  // the size in bytes from which they are used
	BatchEncrypt bool
	// DeploymentVersion is the newest form of deployments that it takes; 0 if it reports none.
	DeploymentVersion int
	StackPolicies     bool
}

// capabilities is the answer of the call for the capabilities.
type capabilities struct {
	Capabilities []struct {
		Capability    string          `json:"capability"`
		Version       int             `json:"version"`
		Configuration json.RawMessage `json:"configuration"`
	} `json:"capabilities"`
}

func (a *capabilities) check(given members) error {
	for _, one := range a.Capabilities {
		if err := text("capability", one.Capability); err != nil {
			return err
		}
	}
	return given.list("capabilities")
}

// configuration is the configuration of a capability. One of another form has no fields for sluice.
type configuration struct {
	Cutoff  int `json:"checkpointCutoffSizeBytes"`
	Version int `json:"version"`
}

func (*configuration) check(members) error { return nil }

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

// StackID names a stack.
type StackID struct{ Organization, Project, Name string }

func (s StackID) path(parts ...string) string {
	p := "/api/stacks/" + url.PathEscape(s.Organization) + "/" + url.PathEscape(s.Project) + "/" + url.PathEscape(s.Name)
	for _, part := range parts {
		p += "/" + url.PathEscape(part)
	}
	return p
}

// Stack describes a stack at the service.
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

func (a *Stack) check(given members) error {
	if a.Version < 0 {
		return fmt.Errorf("its version is %d", a.Version)
	}
	return errors.Join(text("orgName", a.Organization), text("projectName", a.Project), text("stackName", a.Name), given.need("version"))
}

// Current is a running operation.
type Current struct {
	Kind    string `json:"kind"`
	Author  string `json:"author"`
	Started int64  `json:"started"` // Unix seconds
}

// StackConfig means that the service keeps the settings of a stack: in an environment, with the key of their secrets.
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

// stacks is a page of the list.
type stacks struct {
	Stacks []Summary `json:"stacks"`
	Next   *string   `json:"continuationToken"`
}

func (a *stacks) check(given members) error {
	for _, s := range a.Stacks {
		if err := errors.Join(text("orgName", s.Organization), text("projectName", s.Project), text("stackName", s.Name)); err != nil {
			return fmt.Errorf("a stack: %w", err)
		}
	}
	return given.list("stacks")
}

// Filter selects the stacks of a list; "" is no condition.
type Filter struct{ Project, Organization, TagName, TagValue string }

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
	for {
		var page stacks
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
	if err == nil && (!strings.EqualFold(out.Project, s.Project) || !strings.EqualFold(out.Name, s.Name)) {
		err = &WrongAnswerError{c.base.Host, "GET " + s.path(), fmt.Errorf("it is about the stack %s/%s", out.Project, out.Name)}
	}
	return out, err
}

// messages is the answer of a call that may have messages for people.
type messages struct {
	Messages []Message `json:"messages"`
}

func (*messages) check(members) error { return nil }

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

// Message is a message of the service for people.
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

// Deployment is a state in the form in which it is sent.
type Deployment struct {
	Version    int             `json:"version"`
	Features   []string        `json:"features,omitempty"`
	Deployment json.RawMessage `json:"deployment,omitempty"`
}

// check accepts a missing deployment: a stack without updates has none. The caller judges with the history whether that is right
// ([Deployment.IsNothing]).
func (d *Deployment) check(given members) error {
	if d.Version < 1 {
		return errors.New(`it has no "version" of a state`)
	}
	if d.IsNothing() {
		return nil
	}
	if given["deployment"][0] != '{' {
		return errors.New(`its "deployment" is not an object`)
	}
	inner := objectOf(d.Deployment)
	for name, open := range map[string]byte{"manifest": '{', "resources": '[', "secrets_providers": '{', "pending_operations": '[', "metadata": '{'} {
		if raw := inner[name]; !isNull(raw) && raw[0] != open {
			return fmt.Errorf("its %q has the wrong type", name)
		}
	}
	if isNull(inner["manifest"]) && len(inner) > 0 {
		return errors.New(`its "deployment" has no "manifest"`)
	}
	return nil
}

// IsNothing reports whether there is no state at all, not even one without resources.
func (d *Deployment) IsNothing() bool {
	return isNull(d.Deployment) || string(bytes.Join(bytes.Fields(d.Deployment[:min(len(d.Deployment), 64)]), nil)) == "{}"
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

// imported is the answer of an import.
type imported struct {
	ID string `json:"updateId"`
}

func (a *imported) check(members) error { return text("updateId", a.ID) }

// Import replaces the state of a stack and returns the update that does it.
func (c *Client) Import(ctx context.Context, s StackID, d Deployment) (UpdateID, error) {
	var out imported
	err := c.do(ctx, call{method: http.MethodPost, path: s.path("import"), in: d, squeeze: true}, &out)
	return UpdateID{s, out.ID}, err
}
