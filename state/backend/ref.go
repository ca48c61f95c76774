package backend

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/state/backend/internal/layout"
)

// Organization is the only organization of a self-managed backend.
const Organization = layout.Organization

// Ref names a stack. Project is "" in a store of the old layout, which has no projects ([state.md 4.3]).
//
// [state.md 4.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#43-layout-versions
type Ref struct {
	Project, Name string
	// Owner is the organization at a service; "" in a self-managed backend, which has only one.
	Owner string
}

// refOf returns the stack that keys belong to.
func refOf(s layout.Stack) Ref { return Ref{Project: s.Project, Name: s.Name} }

// String returns the fully qualified name: "organization/<project>/<stack>".
func (r Ref) String() string {
	if r.Project == "" {
		return r.Name
	}
	return r.Organization() + "/" + r.Project + "/" + r.Name
}

// Organization returns the organization that the stack belongs to.
func (r Ref) Organization() string { return cmp.Or(r.Owner, Organization) }

// Display returns the form for people: the bare name of a stack of the current project in the current organization ([state.md 4.4]).
//
// [state.md 4.4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#44-keys
func (r Ref) Display(currentProject, currentOrganization string) string {
	switch {
	case r.Project != currentProject:
		return r.String()
	case r.Organization() != currentOrganization:
		return r.Organization() + "/" + r.Name
	}
	return r.Name
}

var errNoProject = errors.New("there is no current project; name the stack as organization/<project>/<stack>")

// parseRef reads a stack's name; a bare one belongs to the current project.
func parseRef(text, currentProject string, legacy, validate bool) (Ref, error) {
	parts := strings.Split(text, "/")
	ref := Ref{Project: currentProject, Name: parts[len(parts)-1]}
	switch len(parts) {
	case 1, 2:
	case 3:
		ref.Project = parts[1]
	default:
		return Ref{}, fmt.Errorf("stack name %q must have the form <stack>, organization/<stack> or "+
			"organization/<project>/<stack>", text)
	}
	if len(parts) > 1 && parts[0] != Organization {
		return Ref{}, fmt.Errorf("stack name %q: organization name must be 'organization'", text)
	}
	if legacy {
		ref.Project = ""
	} else if ref.Project == "" {
		return Ref{}, errNoProject
	}
	return ref, ref.check(legacy, validate)
}

// check refuses names that cannot be file names and, with validate, those that Pulumi refuses.
func (r Ref) check(legacy, validate bool) error {
	if err := layout.CheckName("stack", r.Name, validate); err != nil {
		return err
	}
	if legacy {
		return nil
	}
	return layout.CheckName("project", r.Project, true)
}
