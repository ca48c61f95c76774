package packages

import (
	"context"

	"github.com/sluice-iac/sluice/stages"
)

// Registered are the packages of lock files, which the engine has been told about.
type Registered struct {
	List []stages.Package
	refs map[string]string // what the engine calls them, by comparable name
}

// Register tells the engine about packages.
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

// Ref returns how registrations name a package, "" for one that no lock file has.
func (r *Registered) Ref(p stages.Package) string { return r.refs[comparableName(p)] }

// comparableName tells packages apart that serve the same tokens.
func comparableName(p stages.Package) string {
	switch {
	case p.Extension != nil:
		return p.Extension.Name
	case p.Parameterization != nil:
		return p.Parameterization.Name
	}
	return p.Name
}

// Namespace returns the package in the tokens that a package serves: an extension adds to the package of its plugin.
func Namespace(p stages.Package) string {
	if p.Parameterization != nil {
		return p.Parameterization.Name
	}
	return p.Name
}
