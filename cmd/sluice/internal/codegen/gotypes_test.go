package codegen

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// stubs are packages with the structure of SDKs.
type stubs struct {
	fset   *token.FileSet
	loaded map[string]*types.Package
}

func (s *stubs) Import(path string) (*types.Package, error) {
	if p, ok := s.loaded[path]; ok {
		return p, nil
	}
	name := map[string]string{
		goSDK: "pulumi", goSDK + "/config": "config", "example.com/cloud/sdk/v6/go/cloud": "cloud",
		"example.com/cloud/sdk/v6/go/cloud/store": "store", "example.com/cloud/sdk/v6/go/cloud/network": "network",
	}[path]
	if name == "" {
		return importer.ForCompiler(s.fset, "source", nil).Import(path)
	}
	p, err := s.check(path, filepath.Join("testdata", "stubs", name+".go.txt"))
	s.loaded[path] = p
	return p, err
}

func (s *stubs) check(path, file string) (*types.Package, error) {
	f, err := parser.ParseFile(s.fset, file, nil, 0)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: s}
	p, err := config.Check(path, s.fset, []*ast.File{f}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

func TestGoProgramsCompile(t *testing.T) {
	s := &stubs{fset: token.NewFileSet(), loaded: map[string]*types.Package{}}
	for _, name := range []string{"everything.go.txt", "secrets.go.txt"} {
		_, err := s.check("main", filepath.Join("testdata", name))
		require.NoError(t, err)
	}
}
