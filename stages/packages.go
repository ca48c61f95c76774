package stages

import (
	"bytes"
	"sync"

	"github.com/google/uuid"
)

// packages are those that programs have registered. It is safe for concurrent use.
type packages struct {
	mu    sync.Mutex // guards known
	known map[string]Package
}

// register remembers a package and returns a name for it: for an extension that of its content (protocol.md 4.9).
func (p *packages) register(pkg Package) (string, error) {
	if pkg.Name == "" {
		return "", &InvalidRequestError{errEmptyPackage}
	}
	key := packageKey(pkg)
	ref := uuid.NewSHA1(uuid.NameSpaceOID, key).String()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]Package{}
	}
	if pkg.Extension != nil {
		content := pkg.Extension.ref()
		if have, ok := p.known[content]; !ok || bytes.Equal(packageKey(have), key) {
			ref = content // else the same extension of another plugin has the name
		}
	}
	p.known[ref] = pkg
	return ref, nil
}

// meant returns the package that a request means: that of its packageRef, which overrides what it spells out.
func (p *packages) meant(spelled Package, ref string) (Package, error) {
	if ref == "" {
		return spelled, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.known[ref]
	if !ok {
		return Package{}, &unknownPackageError{ref}
	}
	return known, nil
}
