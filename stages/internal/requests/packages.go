package requests

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/sluice-iac/sluice/stages"
)

var (
	errEmptyPackage   = errors.New("package name is empty")
	errAlreadyWaiting = errors.New("Already waiting for shutdown") // SDKs recognize this text (steps.md 9.8)
)

type unknownPackageError struct{ ref string }

func (e *unknownPackageError) Error() string {
	return fmt.Sprintf("unknown provider package '%v'", e.ref)
}

// packageKey returns the text of a package, so that equal requests have equal keys.
func packageKey(p stages.Package) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\x00%s\x00%s", p.Name, p.Version, p.DownloadURL)
	platforms := make([]string, 0, len(p.Checksums))
	for k := range p.Checksums {
		platforms = append(platforms, k)
	}
	slices.Sort(platforms)
	for _, k := range platforms {
		fmt.Fprintf(&b, "\x00%s=%s", k, hex.EncodeToString(p.Checksums[k]))
	}
	for _, x := range []*stages.Parameterization{p.Parameterization, p.Extension} {
		if x == nil {
			b.WriteString("\x01")
			continue
		}
		fmt.Fprintf(&b, "\x02%s\x00%s\x00%s", x.Name, x.Version, hex.EncodeToString(x.Value))
	}
	return []byte(b.String())
}

// packages are those that programs have registered. It is safe for concurrent use.
type packages struct {
	mu    sync.Mutex // guards known
	known map[string]stages.Package
}

// register adds a package and returns a name for it; that of an extension is derived from its content (protocol.md 4.9).
func (p *packages) register(pkg stages.Package) (string, error) {
	if pkg.Name == "" {
		return "", &stages.InvalidRequestError{Err: errEmptyPackage}
	}
	if err := pkg.CheckNames(); err != nil {
		return "", &stages.InvalidRequestError{Err: err}
	}
	key := packageKey(pkg)
	ref := uuid.NewSHA1(uuid.NameSpaceOID, key).String()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]stages.Package{}
	}
	if pkg.Extension != nil {
		content := pkg.Extension.Ref()
		if have, ok := p.known[content]; !ok || bytes.Equal(packageKey(have), key) {
			ref = content // else the same extension of another plugin has the name
		}
	}
	p.known[ref] = pkg
	return ref, nil
}

// meant returns the package of a request: that of its packageRef if given, and else the one that it spells out.
func (p *packages) meant(spelled stages.Package, ref string) (stages.Package, error) {
	if ref == "" {
		return spelled, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.known[ref]
	if !ok {
		return stages.Package{}, &unknownPackageError{ref}
	}
	return known, nil
}
