package packages

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
)

// Languages are those that SDKs are generated for if none is named.
func Languages() []string { return []string{"dotnet", "go", "java", "nodejs", "python"} }

// Language returns the name of the runtime for a language, which people call by several names.
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

// SDKRequest is what to generate.
type SDKRequest struct {
	Language string
	Folder   string // where the SDK is in the end; what is there is replaced
	Local    bool   // it is used where it is, and not published
	Overlays string // a folder with a folder of files for each language; "" for none
}

// Generate generates the SDK of a package. The error is a *source.NoGeneratorError if nothing can.
func (r *Reader) Generate(ctx context.Context, p *Package, q SDKRequest) error {
	extra, err := overlay(q.Overlays, q.Language)
	if err != nil {
		return err
	}
	g, err := r.generator(ctx, p, q.Language)
	if err != nil {
		return err
	}
	defer func() { _ = g.Close() }() // its error changes nothing
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
	defer func() { _ = os.RemoveAll(half) }() // it is gone when all went well
	if err := os.Chmod(half, 0o755); err != nil {
		return err
	}
	text := p.Schema
	if q.Local {
		if text, err = packable(text); err != nil {
			return err
		}
	}
	remarks, err := g.Generate(ctx, source.SDK{Directory: half, Schema: text, Local: q.Local, Extra: extra})
	if err = errors.Join(err, r.show(p, remarks)); err != nil {
		return fmt.Errorf("generate the SDK of %s for %s: %w", p.Title(), q.Language, err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Rename(half, folder)
}

func (r *Reader) generator(ctx context.Context, p *Package, language string) (*host.SDKGenerator, error) {
	return host.NewSDKGenerator(ctx, language, [][]byte{p.Schema}, r.Options, dependencies.Printer(r.Terminal.Err, r.Terminal.Err))
}

// show prints what a generator says about a schema, and returns its errors.
func (r *Reader) show(p *Package, remarks []source.Remark) error {
	var bad []error
	for _, remark := range remarks {
		if remark.IsError {
			bad = append(bad, errors.New(remark.Text))
			continue
		}
		r.Terminal.Warn("the schema of %s: %s", p.Name, remark.Text)
	}
	return errors.Join(bad...)
}

// packable returns a schema that asks for an SDK that can be packed: that of a local package is laid out differently in some
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

// Link makes a program use the SDK in a folder, and returns what its author has to do.
func (r *Reader) Link(ctx context.Context, p *Package, program source.Project, folder string) (string, error) {
	g, err := r.generator(ctx, p, program.Runtime)
	if err != nil {
		return "", err
	}
	defer func() { _ = g.Close() }() // its error changes nothing
	relative, err := filepath.Rel(program.Root, folder)
	if err != nil {
		return "", err
	}
	instructions, err := g.Link(ctx, program, []source.LinkedSDK{{Directory: relative, Package: p.Package()}})
	if errors.Is(err, source.ErrNoGenerator) {
		return fmt.Sprintf("Add the folder %s to what the program needs, with the package manager of its language.", relative), nil
	}
	return instructions, err
}

// Published returns the command that gets the SDK that the authors of a package have published; "" if there can be none.
func (p *Package) Published(language string) string {
	if p.Entry == nil || p.plugin != "" || p.Parameterization != nil || p.ExtensionParameterization != nil {
		return ""
	}
	var s struct {
		Language struct {
			Nodejs, Python struct{ PackageName string }
			Go             struct{ ImportBasePath string }
		}
	}
	if json.Unmarshal(p.Schema, &s) != nil { // a part of it that only this command needs
		return ""
	}
	at := func(mark string) string {
		if p.Version == "" {
			return ""
		}
		return mark + p.Version
	}
	switch language {
	case "nodejs":
		return "npm install " + cmp.Or(s.Language.Nodejs.PackageName, "@pulumi/"+p.Name) + at("@")
	case "python":
		return "pip install " + cmp.Or(s.Language.Python.PackageName, "pulumi_"+strings.ReplaceAll(p.Name, "-", "_")) + at("==")
	case "go":
		if base := s.Language.Go.ImportBasePath; base != "" {
			return "go get " + base
		}
	}
	return ""
}
