package nodejs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sluice-iac/sluice/source/internal/sdk"
	"github.com/sluice-iac/sluice/stages"
)

// packageFile is the relevant part of a package.json (protocol.md 1.12).
type packageFile struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Pulumi  *struct {
		sdk.Manifest
		Extension *sdk.Parameterization `json:"extensionParameterization"`
	} `json:"pulumi"`
}

// packages reads the package.json of every package in the node_modules of a directory and of those above it, sorted by name and version.
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
	sdk.Sort(s.found)
	return slices.CompactFunc(s.found, func(a, b stages.Package) bool { return sdk.Compare(a, b) == 0 }), nil
}

type scan struct {
	visited map[string]bool // real paths: package managers link packages to each other
	found   []stages.Package
}

// modules visits each package of a node_modules directory, which need not exist.
func (s *scan) modules(directory string) error {
	entries, err := list(directory)
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

// list returns the entries of a directory. For a file it returns none: package managers keep files between the packages.
func list(directory string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return entries, err
}

func (s *scan) stores(directory string) error {
	entries, err := list(directory)
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
		return nil // a dangling link is not a package
	}
	s.visited[real] = true
	if b, err := os.ReadFile(filepath.Join(real, "package.json")); err == nil {
		s.file(b)
	}
	return s.modules(filepath.Join(real, "node_modules"))
}

// file adds the package that a package.json declares. It ignores a malformed file, which Node.js reports.
func (s *scan) file(b []byte) {
	if !bytes.Contains(b, []byte(`"pulumi"`)) {
		return
	}
	var f packageFile
	if json.Unmarshal(b, &f) != nil || f.Pulumi == nil || !f.Pulumi.Resource {
		return
	}
	pkg := f.Pulumi.Package(f.Name[strings.LastIndex(f.Name, "/")+1:], f.Version)
	pkg.Extension = f.Pulumi.Extension.Item()
	s.found = append(s.found, pkg)
}
