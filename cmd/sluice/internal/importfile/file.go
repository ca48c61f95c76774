package importfile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/files"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Placeholder stands for values in written files that users have to replace.
const Placeholder = "<PLACEHOLDER>"

// File is an import file.
type File struct {
	// NameTable gives names to resources that are already recorded.
	NameTable map[string]urn.URN `json:"nameTable,omitempty"`
	Resources []Resource         `json:"resources"`
	// ProviderInputs are the configurations of providers by their names. They are deprecated: a provider is now a
	// resource of its own.
	ProviderInputs map[string]json.RawMessage `json:"providerInputs,omitempty"`
}

// Resource is one entry of a file.
type Resource struct {
	Type urn.Type `json:"type"`
	// Name is the name by which other resources of the file refer to this one, and its variable in generated code.
	Name string `json:"name"`
	ID   string `json:"id,omitempty"`
	// Parent and Provider are names of other resources.
	Parent            string   `json:"parent,omitempty"`
	Provider          string   `json:"provider,omitempty"`
	Version           string   `json:"version,omitempty"`
	PluginDownloadURL string   `json:"pluginDownloadUrl,omitempty"`
	Properties        []string `json:"properties,omitempty"`
	Component         bool     `json:"component,omitempty"`
	Remote            bool     `json:"remote,omitempty"`
	// Inputs and Outputs are in the form of state files.
	Inputs  json.RawMessage `json:"inputs,omitempty"`
	Outputs json.RawMessage `json:"outputs,omitempty"`
	// LogicalName is the name in the URN. If it or Name is empty, it has the value of the other.
	LogicalName      string            `json:"logicalName,omitempty"`
	Parameterization *Parameterization `json:"parameterization,omitempty"`
	Extension        *Extension        `json:"extension,omitempty"`
	// Error says why an earlier import has not recorded the resource. It is for people.
	Error string `json:"error,omitempty"`
}

// named returns the name by which other entries refer to an entry.
func (q *Resource) named() string {
	if q.Name == "" {
		return q.LogicalName
	}
	return q.Name
}

// setPlugin sets the plugin of a provider.
func (q *Resource) setPlugin(p *state.Resource) error {
	pkg, err := stages.PackageOf(p.Type, p.Inputs)
	if err != nil {
		return fmt.Errorf("%s: %w", p.URN, err)
	}
	q.Version, q.PluginDownloadURL = pkg.Version, pkg.DownloadURL
	if x := pkg.Parameterization; x != nil {
		q.Version = x.Version
		q.Parameterization = &Parameterization{PluginName: pkg.Name, PluginVersion: pkg.Version, Value: x.Value}
	}
	return nil
}

// Parameterization names the plugin that serves the package of a resource, and its parameter.
type Parameterization struct {
	PluginName    string `json:"pluginName"`
	PluginVersion string `json:"pluginVersion"`
	Value         []byte `json:"value"`
}

// Extension is a package that extends a provider.
type Extension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// Read reads a file. An error names the place in the file.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the import file: %w", err)
	}
	f := &File{}
	dec := json.NewDecoder(bytes.NewReader(data))
	err = dec.Decode(f)
	at := dec.InputOffset()
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			return f, nil
		}
		rest := data[at:]
		at += int64(len(rest) - len(bytes.TrimLeft(rest, " \t\r\n")))
		err = errors.New("unexpected text after the end of the object")
	}
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset - 1
	case errors.As(err, &mismatch):
		at = mismatch.Offset
		err = fmt.Errorf("%s is a JSON %s, which does not belong there", fieldOf(mismatch), mismatch.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(data))
		err = errors.New("unexpected end of the file")
	}
	before := data[:max(0, min(int(at), len(data)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return nil, fmt.Errorf("read the import file: %s:%d:%d: %w", path, line, column, err)
}

func fieldOf(e *json.UnmarshalTypeError) string {
	if e.Field == "" {
		return "the file"
	}
	return e.Field
}

// Write writes a file that people can edit.
func (f *File) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(f)
}

// Requests returns the imports that the file describes, and the names of all resources that it names. The error lists
// all faults that can be found at once. A file without entries describes no imports.
func (f *File) Requests(ctx context.Context, t Target) ([]stages.ImportRequest, Names, error) {
	b := &resolver{file: f, target: t, resources: slices.Clone(f.Resources), urns: map[string]urn.URN{}, names: Names{}, used: map[string]bool{}}
	for _, step := range []func(){b.sanity, b.nameTable, b.resolve} {
		if step(); len(b.faults) > 0 {
			return nil, nil, errors.Join(b.faults...)
		}
	}
	requests := make([]stages.ImportRequest, len(b.resources))
	for i := range b.resources {
		requests[i] = b.request(ctx, i)
	}
	if len(b.faults) > 0 {
		return nil, nil, errors.Join(b.faults...)
	}
	return requests, b.names, nil
}

// HasProperties reports whether the file has property values, which may be encrypted.
func (f *File) HasProperties() bool {
	return len(f.ProviderInputs) > 0 || slices.ContainsFunc(f.Resources, func(q Resource) bool {
		return isGiven(q.Inputs) || isGiven(q.Outputs)
	})
}

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
		err = files.Replace(path, 0o600, files.Content(text.Bytes()))
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
