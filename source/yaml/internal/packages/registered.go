package packages

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// Registered holds the packages of lock files, registered with the engine.
type Registered struct {
	List []stages.Package
	refs map[string]string // the engine's references, by comparable name
}

// Register registers packages with the engine.
func Register(ctx context.Context, m stages.Monitor, list []stages.Package) (*Registered, error) {
	r := &Registered{List: list, refs: make(map[string]string, len(list))}
	for _, p := range list {
		ref, err := m.RegisterPackage(ctx, p)
		if err != nil {
			return nil, err
		}
		r.refs[comparableName(p)] = ref
	}
	return r, nil
}

// Ref returns the engine's reference to a package, "" for one without a lock file.
func (r *Registered) Ref(p stages.Package) string { return r.refs[comparableName(p)] }

// comparableName returns the name that distinguishes a package from others with the same tokens.
func comparableName(p stages.Package) string {
	switch {
	case p.Extension != nil:
		return p.Extension.Name
	case p.Parameterization != nil:
		return p.Parameterization.Name
	}
	return p.Name
}

// Namespace returns the package in the tokens of a package: an extension adds to the package of its plugin.
func Namespace(p stages.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Name
	}
	return p.Name
}
