package stages

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// ImportRequest names one object that is to be taken under management without a program ([steps.md 4.4]).
//
// [steps.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#44-the-import-command
type ImportRequest struct {
	Type urn.Type
	Name string
	ID   string // the provider's; "" for a component or a provider, which is made and not read
	// Parent is the URN of the parent, "" for the root stack. It is recorded already or imported by the same run.
	Parent urn.URN
	// Provider is the URN of an explicit provider, "" for the default one of the package. One that is neither recorded nor
	// imported is made from ProviderInputs.
	Provider       urn.URN
	ProviderInputs property.Map
	// Package is the plugin that the provider needs; missing fields are those of the package that the program uses.
	Package Package
	// Properties are the inputs to record; none means all that the provider reports.
	Properties []string
	// Inputs are used where the provider reports none, as for inputs that cannot be read back. For a provider they are its
	// configuration. Outputs, if there are any, are trusted together with Inputs, and the object is not read.
	Inputs, Outputs property.Map
	Protect         bool
	// Component is true for a component, which is made and not read. Remote is true if it belongs to a package.
	Component, Remote bool
}

// UsesProvider reports whether the imported resource has a provider.
func (q ImportRequest) UsesProvider() bool {
	return !q.Type.IsProvider() && (!q.Component || q.Remote)
}

// CheckImports returns all errors in the requests themselves ([steps.md 4.4] "Pre-checks"), before anything is done.
//
// [steps.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#44-the-import-command
func CheckImports(stack, project string, requests []ImportRequest) error {
	var errs []error
	seen := map[urn.URN]bool{}
	root := urn.RootStack(stack, project)
	for _, q := range requests {
		if err := q.check(); err != nil {
			errs = append(errs, err)
			continue
		}
		u := q.Under(root)
		if seen[u] {
			errs = append(errs, fmt.Errorf("duplicate import '%v' of type '%v'", q.Name, q.Type))
		}
		seen[u] = true
	}
	return errors.Join(errs...)
}

// URN returns the URN that the resource gets in a stack.
func (q ImportRequest) URN(stack, project string) urn.URN {
	return q.Under(urn.RootStack(stack, project))
}

// Under is [ImportRequest.URN] for a stack whose root has this URN. A parent of the request comes first.
func (q ImportRequest) Under(root urn.URN) urn.URN {
	return cmp.Or(q.Parent, root).Child(q.Type, q.Name)
}

func (q ImportRequest) check() error {
	switch {
	case q.Name == "":
		return fmt.Errorf("an import of type %q has no name", q.Type)
	case q.Component && q.ID != "":
		return fmt.Errorf("import %s cannot specify an ID as it's a component", q.Name)
	case (q.UsesProvider() || q.Type.IsProvider()) && !q.Type.IsToken(), q.Type == "":
		return fmt.Errorf("import type %q is not a valid resource type token. Type tokens must be of the format <package>:<module>:<type> - "+
			"refer to the import section of the provider resource documentation.", q.Type)
	case q.Type.IsProvider() && q.ID != "":
		return fmt.Errorf("import %s cannot specify an ID as it's a provider, which is created rather than read", q.Name)
	case q.UsesProvider() && !q.Component && q.ID == "":
		return fmt.Errorf("import %s of type %q has no ID", q.Name, q.Type)
	case q.Parent != "" && !q.Parent.IsValid():
		return fmt.Errorf("import %s: the parent %q is not a URN", q.Name, q.Parent)
	case q.Provider != "" && !q.Provider.Type().IsProvider():
		return fmt.Errorf("imported provider URN %q is not a provider type", q.Provider)
	case q.Package.Extension != nil && q.Package.Parameterization != nil:
		return fmt.Errorf("import %s has both a parameterization and an extension, which are mutually exclusive", q.Name)
	}
	return nil
}

// ProviderSpec returns the specification of the provider that a request declares. Missing fields of the plugin come from the inputs
// of the provider.
func (q ImportRequest) ProviderSpec() (providers.Spec, error) {
	spec, err := providers.SpecFromInputs(q.Type, q.Inputs)
	if err != nil {
		return spec, err
	}
	given := q.Package.Spec(spec.Package)
	if given.Parameterization != nil || spec.Parameterization == nil && given.Version != "" {
		spec.Version, spec.Parameterization = given.Version, given.Parameterization
	}
	spec.DownloadURL = cmp.Or(given.DownloadURL, spec.DownloadURL)
	if given.Checksums != nil {
		spec.Checksums = given.Checksums
	}
	return spec, nil
}
