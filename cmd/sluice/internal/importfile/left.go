package importfile

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/urn"
)

// Left returns a file with those entries that are not recorded yet. urns are the URNs of the entries, in their order; reasons says of some of
// these why they are not recorded, and the others of the file are. Parents and providers that are no longer listed are in the name table.
func (f *File) Left(urns []urn.URN, reasons map[urn.URN]string) *File {
	out := &File{NameTable: map[string]urn.URN{}, Resources: []Resource{}, ProviderInputs: f.ProviderInputs}
	recorded := map[string]urn.URN{}
	for i, u := range urns {
		if _, left := reasons[u]; !left {
			recorded[f.Resources[i].named()] = u
		}
	}
	for i, u := range urns {
		reason, left := reasons[u]
		if !left {
			continue
		}
		q := f.Resources[i]
		q.Error = reason
		out.Resources = append(out.Resources, q)
		for _, name := range []string{q.Parent, q.Provider} {
			if at, is := f.NameTable[name]; is {
				out.NameTable[name] = at
			} else if at, is := recorded[name]; is {
				out.NameTable[name] = at
			}
		}
	}
	return out
}

// named returns the name by which other entries refer to an entry.
func (q *Resource) named() string {
	if q.Name == "" {
		return q.LogicalName
	}
	return q.Name
}

// LeftPath returns where the entries of a file go that are left: beside it. A file that holds such entries itself is replaced.
func LeftPath(path string) string {
	const end = ".failed.json"
	if strings.HasSuffix(path, end) {
		return path
	}
	return strings.TrimSuffix(path, ".json") + end
}

// Save writes the file to a path, for a user who edits it and imports it with --file. Without a path it makes a file in the working directory.
// It returns the path.
func (f *File) Save(path string) (string, error) {
	var text bytes.Buffer
	err := f.Write(&text)
	if err == nil && path == "" {
		path, err = emptyFile()
	}
	if err == nil {
		err = workspace.WriteAtomically(path, text.Bytes(), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("write the list of resources: %w", err)
	}
	return filepath.Clean(path), nil
}

func emptyFile() (path string, err error) {
	file, err := os.CreateTemp(".", "pulumi-import-*.json")
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}
