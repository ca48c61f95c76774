package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/private"
)

// Notes are sluice's own files about one stack, for the user of this machine. They are beside the selections; Pulumi
// does not use them. They may be deleted at any time.
type Notes struct{ stem string }

// NewNotes returns the notes about a stack, which is identified by the URL of its backend, its qualified name and its
// location.
func NewNotes(home, backendURL, stack, place string) Notes {
	sum := sha256.Sum256([]byte(strings.Join([]string{backendURL, stack, place}, "\x00")))
	name := strings.ReplaceAll(strings.TrimPrefix(stack, "organization/"), "/", ".")
	return Notes{filepath.Join(home, "sluice", "decisions", name+"-"+hex.EncodeToString(sum[:8]))}
}

// Path returns the file of the note of that name.
func (n Notes) Path(name string) string { return n.stem + "." + name }

// Write replaces a note.
func (n Notes) Write(name string, content []byte) error { return replace(n.Path(name), content) }

// Read returns a note; the error is [io/fs.ErrNotExist] when there is none.
func (n Notes) Read(name string) ([]byte, error) { return os.ReadFile(n.Path(name)) }

// Remove removes notes.
func (n Notes) Remove(names ...string) error {
	for _, name := range names {
		if err := private.Remove(n.Path(name)); err != nil {
			return err
		}
	}
	return nil
}
