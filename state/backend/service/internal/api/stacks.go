package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
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

// organization is the answer of the call for the default organization, whose name may be empty.
type organization struct {
	Login string `json:"gitHubLogin"`
}

func (*organization) check(given members) error { return given.need("gitHubLogin") }

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

// messages is the answer of a call that may have messages for people.
type messages struct {
	Messages []Message `json:"messages"`
}

func (*messages) check(members) error { return nil }

// Message is a message of the service for people.
type Message struct {
	Severity string `json:"severity"`
	Message  string `json:"message"`
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

// imported is the answer of an import.
type imported struct {
	ID string `json:"updateId"`
}

func (a *imported) check(members) error { return text("updateId", a.ID) }
