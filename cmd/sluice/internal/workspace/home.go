package workspace

import (
	"crypto/sha1" // the name of a file, not a matter of security
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Home is the directory of Pulumi's settings: credentials, plugins and which stack is selected (state.md 4.1).
type Home struct {
	Dir         string
	credentials string // the file
}

// LocalBackend is where state goes when nobody says anything else: where `pulumi login --local` puts it.
const LocalBackend = "file://~"

// FindHome returns PULUMI_HOME, or ".pulumi" in the user's home directory. Nothing needs to exist.
func FindHome(lookup func(name string) (string, bool)) (*Home, error) {
	dir, _ := lookup("PULUMI_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("find the home directory: %w; set PULUMI_HOME", err)
		}
		dir = filepath.Join(home, ".pulumi")
	}
	credentials, _ := lookup("PULUMI_CREDENTIALS_PATH")
	if credentials == "" {
		credentials = dir
	}
	return &Home{Dir: dir, credentials: filepath.Join(credentials, "credentials.json")}, nil
}

// CurrentBackend returns the URL that somebody has logged in to, "" when nobody has.
func (h *Home) CurrentBackend() (string, error) {
	data, err := os.ReadFile(h.credentials)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the credentials: %w", err)
	}
	var file struct {
		Current string `json:"current"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return "", fmt.Errorf("%s is not a credentials file that can be read (%w); set PULUMI_BACKEND_URL, or log in again with `pulumi login`", h.credentials, err)
	}
	return file.Current, nil
}

// Selection is which stack of a project is selected on a backend (state.md 4.12).
type Selection struct {
	path string
	url  string // exactly as configured
}

// Selection returns the selection for a project, whose file is at the given absolute path, on a backend.
func (h *Home) Selection(project, projectFile, backendURL string) *Selection {
	sum := sha1.Sum([]byte(projectFile))
	name := project + "-" + hex.EncodeToString(sum[:]) + "-workspace.json"
	return &Selection{path: filepath.Join(h.Dir, "workspaces", name), url: backendURL}
}

// Current returns the name of the selected stack, "" for none.
func (s *Selection) Current() (string, error) {
	f, err := s.read()
	if err != nil {
		return "", err
	}
	var stacks map[string]string
	if raw, ok := f["stacks"]; ok {
		if err := json.Unmarshal(raw, &stacks); err != nil {
			return "", s.malformed(err)
		}
	}
	if name := stacks[s.url]; name != "" {
		return name, nil
	}
	var legacy string
	_ = json.Unmarshal(f["stack"], &legacy) // what is no text selects nothing
	return legacy, nil
}

// Select makes a stack, given by its fully qualified name, the selected one.
func (s *Selection) Select(name string) error {
	return s.edit(func(f map[string]json.RawMessage, stacks map[string]string) { stacks[s.url] = name })
}

// Clear selects nothing.
func (s *Selection) Clear() error {
	return s.edit(func(f map[string]json.RawMessage, stacks map[string]string) {
		delete(stacks, s.url)
		delete(f, "stack")
	})
}

func (s *Selection) read() (map[string]json.RawMessage, error) {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which stack is selected: %w", err)
	}
	f := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, s.malformed(err)
	}
	return f, nil
}

func (s *Selection) malformed(err error) error {
	return &FileError{Path: s.path, Problem: "the file that says which stack is selected cannot be read: " + err.Error(), Advice: "delete it and select a stack again"}
}

// edit changes the file and keeps what it does not know; a file with nothing left is removed.
func (s *Selection) edit(change func(f map[string]json.RawMessage, stacks map[string]string)) error {
	f, err := s.read()
	if err != nil {
		return err
	}
	stacks := map[string]string{}
	if raw, ok := f["stacks"]; ok {
		if err := json.Unmarshal(raw, &stacks); err != nil {
			return s.malformed(err)
		}
	}
	change(f, stacks)
	delete(f, "stacks")
	if len(stacks) > 0 {
		raw, err := json.Marshal(stacks)
		if err != nil {
			return err
		}
		f["stacks"] = raw
	}
	if len(f) == 0 {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return s.write(f)
}

func (s *Selection) write(f map[string]json.RawMessage) error {
	text, err := json.MarshalIndent(f, "", "    ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("record which stack is selected: %w", err)
	}
	if err := writeAtomically(s.path, text, 0o600); err != nil {
		return fmt.Errorf("record which stack is selected: %w", err)
	}
	return nil
}
