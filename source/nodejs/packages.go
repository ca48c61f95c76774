package nodejs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
)

// packageFile is what matters of a package.json (protocol.md 1.12).
type packageFile struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Pulumi  *struct {
		Resource         bool              `json:"resource"`
		Name             string            `json:"name"`
		Version          string            `json:"version"`
		Server           string            `json:"server"`
		Parameterization *parameterization `json:"parameterization"`
		Extension        *parameterization `json:"extensionParameterization"`
	} `json:"pulumi"`
}

type parameterization struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Value   []byte `json:"value"` // base64 in the file
}

func (p *parameterization) item() *stages.Parameterization {
	if p == nil {
		return nil
	}
	return &stages.Parameterization{Name: p.Name, Version: strings.TrimPrefix(p.Version, "v"), Value: p.Value}
}

// packages reads the package.json of everything in the node_modules of a directory and of those above it, sorted by
// name and version.
func packages(directory string) ([]stages.Package, error) {
	s := scan{visited: make(map[string]bool)}
	for dir := directory; ; dir = filepath.Dir(dir) {
		if err := s.modules(filepath.Join(dir, "node_modules")); err != nil {
			return nil, err
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	slices.SortFunc(s.found, func(a, b stages.Package) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version), cmp.Compare(parameter(a), parameter(b)))
	})
	return slices.CompactFunc(s.found, func(a, b stages.Package) bool {
		return a.Name == b.Name && a.Version == b.Version && parameter(a) == parameter(b)
	}), nil
}

func parameter(p stages.Package) string {
	var text strings.Builder
	for _, q := range []*stages.Parameterization{p.Parameterization, p.Extension} {
		if q != nil {
			text.WriteString(q.Name + " " + q.Version + " " + string(q.Value))
		}
		text.WriteByte('|')
	}
	return text.String()
}

type scan struct {
	visited map[string]bool // real paths: package managers link packages to each other
	found   []stages.Package
}

// modules visits each package of a node_modules directory, which need not exist.
func (s *scan) modules(directory string) error {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(directory, e.Name())
		var err error
		switch {
		case e.Name() == ".pnpm": // one directory for each version, with a node_modules of its own
			err = s.stores(path)
		case strings.HasPrefix(e.Name(), "."):
		case strings.HasPrefix(e.Name(), "@"):
			err = s.modules(path)
		default:
			err = s.module(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) stores(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.modules(filepath.Join(directory, e.Name(), "node_modules")); err != nil {
			return err
		}
	}
	return nil
}

func (s *scan) module(directory string) error {
	real, err := filepath.EvalSymlinks(directory)
	if err != nil || s.visited[real] {
		return nil // a dangling link is no package
	}
	s.visited[real] = true
	if b, err := os.ReadFile(filepath.Join(real, "package.json")); err == nil {
		s.file(b)
	}
	return s.modules(filepath.Join(real, "node_modules"))
}

// file adds the package that a package.json declares. A file that is malformed is Node.js's to complain about.
func (s *scan) file(b []byte) {
	if !bytes.Contains(b, []byte(`"pulumi"`)) {
		return
	}
	var f packageFile
	if json.Unmarshal(b, &f) != nil || f.Pulumi == nil || !f.Pulumi.Resource {
		return
	}
	name := f.Pulumi.Name
	if name == "" {
		name = f.Name[strings.LastIndex(f.Name, "/")+1:]
	}
	s.found = append(s.found, stages.Package{
		Name:             name,
		Version:          strings.TrimPrefix(cmp.Or(f.Pulumi.Version, f.Version), "v"),
		DownloadURL:      f.Pulumi.Server,
		Parameterization: f.Pulumi.Parameterization.item(),
		Extension:        f.Pulumi.Extension.item(),
	})
}
