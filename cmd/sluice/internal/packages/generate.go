package packages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Generator generates the SDKs of packages.
type Generator struct {
	terminal *terminal.Terminal
	options  host.PluginOptions
}

// Generate generates the SDK of a package. The error is a *tooling.NoGeneratorError if nothing can.
func (g Generator) Generate(ctx context.Context, p *Package, q SDKRequest) error {
	extra, err := overlay(q.Overlays, q.Language)
	if err != nil {
		return err
	}
	opened, err := g.open(ctx, p, q.Language)
	if err != nil {
		return err
	}
	defer func() { _ = opened.Close() }() // its error changes nothing
	folder, err := filepath.Abs(q.Folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	half, err := os.MkdirTemp(filepath.Dir(folder), ".generating-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(half) }() // it no longer exists if all went well
	if err := os.Chmod(half, 0o755); err != nil {
		return err
	}
	text := p.Schema
	if q.Local {
		if text, err = packable(text); err != nil {
			return err
		}
	}
	if q.Language == "yaml" && p.isBuiltin {
		if text, err = unversioned(text); err != nil {
			return err
		}
	}
	remarks, err := opened.Generate(ctx, tooling.SDK{Directory: half, Schema: text, Local: q.Local, Extra: extra})
	if err = errors.Join(err, g.show(p, remarks)); err != nil {
		return fmt.Errorf("generate the SDK of %s for %s: %w", p.Title(), q.Language, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(half, folder)
}

// Link links the SDK in a folder to a program, and returns what remains for its author to do.
func (g Generator) Link(ctx context.Context, p *Package, program source.Project, folder string) (string, error) {
	opened, err := g.open(ctx, p, program.Runtime)
	if err != nil {
		return "", err
	}
	defer func() { _ = opened.Close() }() // its error changes nothing
	relative, err := filepath.Rel(program.Root, folder)
	if err != nil {
		return "", err
	}
	instructions, err := opened.Link(ctx, program, []tooling.LinkedSDK{{Directory: relative, Package: p.Package()}})
	if errors.Is(err, tooling.ErrNoGenerator) {
		return fmt.Sprintf("Add the folder %s to what the program needs, with the package manager of its language.", relative), nil
	}
	return instructions, err
}

func (g Generator) open(ctx context.Context, p *Package, language string) (*host.SDKGenerator, error) {
	return host.NewSDKGenerator(ctx, language, [][]byte{p.Schema}, g.options, dependencies.Printer(g.terminal.Err, g.terminal.Err))
}

// show prints a generator's remarks about a schema, and returns its errors.
func (g Generator) show(p *Package, remarks []tooling.Remark) error {
	var bad []error
	for _, remark := range remarks {
		if remark.IsError {
			bad = append(bad, errors.New(remark.Text))
			continue
		}
		g.terminal.Warn("the schema of %s: %s", p.Name, remark.Text)
	}
	return errors.Join(bad...)
}

// packable returns a schema that requests an SDK that can be packed: an SDK of a local package has another layout in some
// languages.
func packable(text []byte) ([]byte, error) {
	var members, meta map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	if raw, has := members["meta"]; has {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return nil, fmt.Errorf("the schema cannot be used: its `meta` is not an object: %w", err)
		}
	}
	if meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta["supportPack"] = json.RawMessage("true")
	var err error
	if members["meta"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	return json.Marshal(members)
}

// unversioned returns a schema without the version. The lock file of a version excludes the built-in provider.
func unversioned(text []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	delete(members, "version")
	return json.Marshal(members)
}

// overlay reads the files of a folder for a language.
func overlay(folder, language string) (map[string][]byte, error) {
	if folder == "" {
		return nil, nil
	}
	root := filepath.Join(folder, language)
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		files[filepath.ToSlash(relative)] = content
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the overlays: %w", err)
	}
	return files, nil
}

// Languages are the languages of generated SDKs if none is given.
func Languages() []string { return []string{"dotnet", "go", "java", "nodejs", "python"} }

// Language returns the name of the runtime for a language, which has several names.
func Language(name string) string {
	switch strings.ToLower(name) {
	case "typescript", "javascript", "node", "node.js":
		return "nodejs"
	case "golang":
		return "go"
	case "csharp", "c#", "fsharp", "visualbasic", ".net":
		return "dotnet"
	}
	return strings.ToLower(name)
}

// SDKRequest describes an SDK to generate.
type SDKRequest struct {
	Language string
	Folder   string // the final folder of the SDK, which is replaced
	Local    bool   // it is used where it is, and not published
	Overlays string // a folder with a folder of files for each language; "" for none
}
