package workspace

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/internal/platform/private"
)

// Home is Pulumi's home directory: PULUMI_HOME, or ~/.pulumi. lookup is [os.LookupEnv] or a stand-in.
func Home(lookup func(name string) (string, bool)) (string, error) {
	if dir, ok := lookup("PULUMI_HOME"); ok && dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory; set PULUMI_HOME: %w", err)
	}
	return filepath.Join(home, ".pulumi"), nil
}

// Selection is the current stack of one project.
type Selection struct {
	path string
	// unresolved is the path at which older versions of Pulumi and sluice have written the file, if a symbolic link leads to the project; "" otherwise.
	// It is read if there is no file at path, and removed when that is written.
	unresolved string
	backend    string
}

// NewSelection returns the selection for a project file and a backend. projectFile is the absolute path as it was found. A project has one selection,
// whatever symbolic links lead to it. backendURL is the text as it was configured.
func NewSelection(home, projectName, projectFile, backendURL string) Selection {
	pathFor := func(file string) string {
		sum := sha1.Sum([]byte(file))
		return filepath.Join(home, "workspaces", fmt.Sprintf("%s-%s-workspace.json", projectName, hex.EncodeToString(sum[:])))
	}
	s := Selection{path: pathFor(projectFile), backend: backendURL}
	if resolved, err := filepath.EvalSymlinks(projectFile); err == nil && resolved != projectFile {
		s.path, s.unresolved = pathFor(resolved), s.path
	}
	return s
}

// settings is the content of the file. Unknown members are kept.
type settings struct {
	legacy string            // "stack"
	stacks map[string]string // backend URL to fully qualified name
	rest   map[string]json.RawMessage
}

// Stack returns the name of the selected stack, "" if none is selected. It is qualified, unless an old version of
// Pulumi selected it: such a name is returned as written, and may not fit the backend.
func (s Selection) Stack() (string, error) {
	f, err := s.read()
	if err != nil {
		return "", err
	}
	if name := f.stacks[s.backend]; name != "" {
		return name, nil
	}
	return f.legacy, nil
}

// Select makes a stack, given by its fully qualified name, the current one of this backend.
func (s Selection) Select(name string) error {
	f, err := s.read()
	if err != nil {
		return err
	}
	f.stacks[s.backend] = name
	return s.write(f)
}

// Clear ends the selection for this backend. A file without remaining selections is removed.
func (s Selection) Clear() error {
	f, err := s.read()
	if err != nil {
		return err
	}
	delete(f.stacks, s.backend)
	f.legacy = ""
	return s.write(f)
}

func (s Selection) read() (settings, error) {
	f := settings{stacks: map[string]string{}, rest: map[string]json.RawMessage{}}
	path := s.path
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && s.unresolved != "" {
		path = s.unresolved
		b, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	var known struct {
		Stack  string
		Stacks map[string]string
	}
	err = json.Unmarshal(b, &known)
	if err == nil {
		err = json.Unmarshal(b, &f.rest)
	}
	if err != nil {
		return f, fmt.Errorf("the workspace settings in %s, which may be deleted: %w", path, err)
	}
	f.legacy = known.Stack
	if known.Stacks != nil {
		f.stacks = known.Stacks
	}
	delete(f.rest, "stack")
	delete(f.rest, "stacks")
	return f, nil
}

func (s Selection) write(f settings) error {
	out := make(map[string]any, len(f.rest)+2)
	for name, raw := range f.rest {
		out[name] = raw
	}
	if f.legacy != "" {
		out["stack"] = f.legacy
	}
	if len(f.stacks) > 0 {
		out["stacks"] = f.stacks
	}
	var err error
	if len(out) == 0 {
		err = private.Remove(s.path)
	} else {
		err = writeJSON(s.path, out)
	}
	if err == nil && s.unresolved != "" {
		err = private.Remove(s.unresolved)
	}
	return err
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "    ")
	if err != nil {
		return err
	}
	return replace(path, b)
}

// replace writes a file that only the user may read, and its folder.
func replace(path string, b []byte) error {
	if err := private.MkdirAll(filepath.Dir(path), private.Folder); err != nil {
		return err
	}
	if err := files.ReplacePrivate(path, files.Content(b)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
