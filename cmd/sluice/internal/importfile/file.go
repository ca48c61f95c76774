package importfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sluice-iac/sluice/urn"
)

// Placeholder stands in written files for what people have to fill in.
const Placeholder = "<PLACEHOLDER>"

// File is an import file.
type File struct {
	// NameTable gives names to resources that are recorded already.
	NameTable map[string]urn.URN `json:"nameTable,omitempty"`
	Resources []Resource         `json:"resources"`
	// ProviderInputs are the configurations of providers by their names. They are deprecated: a provider is a resource of
	// its own now.
	ProviderInputs map[string]json.RawMessage `json:"providerInputs,omitempty"`
}

// Resource is one entry of a file.
type Resource struct {
	Type urn.Type `json:"type"`
	// Name is what others of the file call it, and its variable in generated code.
	Name string `json:"name"`
	ID   string `json:"id,omitempty"`
	// Parent and Provider are names.
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
	// LogicalName is the name in the URN; that of Name if it is empty, and the other way round.
	LogicalName      string            `json:"logicalName,omitempty"`
	Parameterization *Parameterization `json:"parameterization,omitempty"`
	Extension        *Extension        `json:"extension,omitempty"`
}

// Parameterization says which plugin serves the package of a resource, and with which parameter.
type Parameterization struct {
	PluginName    string `json:"pluginName"`
	PluginVersion string `json:"pluginVersion"`
	Value         []byte `json:"value"`
}

// Extension is a package that a provider is extended by.
type Extension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"`
}

// Read reads a file. Errors say where in it the fault is.
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
		err = errors.New("there is text after the end of the object")
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
		err = errors.New("the file ends too early")
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

// Write writes a file as people edit it.
func (f *File) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	return enc.Encode(f)
}
