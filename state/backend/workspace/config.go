package workspace

import (
	"encoding/json"
	"path/filepath"
)

// Config is the file with the user's choices that belong to no project.
type Config struct{ path string }

// NewConfig returns the file in Pulumi's home directory.
func NewConfig(home string) Config { return Config{filepath.Join(home, "config.json")} }

func (c Config) read() (file, error) { return readMembers(c.path, "settings") }

const (
	backendsMember = "backends"
	defaultMember  = "defaultOrg"
)

// DefaultOrganization returns the organization that was chosen for a service, "" if none was.
func (c Config) DefaultOrganization(url string) (string, error) {
	f, err := c.read()
	if err != nil {
		return "", err
	}
	of, _ := membersOf(f.members(backendsMember)[url]) // damage counts as empty
	var name string
	_ = json.Unmarshal(of[defaultMember], &name) // anything but a text is no name
	return name, nil
}

// SetDefaultOrganization chooses the organization for a service.
func (c Config) SetDefaultOrganization(url, name string) error {
	f, err := c.read()
	if err != nil {
		return err
	}
	of, _ := membersOf(f.members(backendsMember)[url])
	of.set(defaultMember, name)
	f.entry(backendsMember, url, of)
	return writeJSON(c.path, f)
}
