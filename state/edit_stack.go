package state

import "github.com/sluice-iac/sluice/urn"

// RenameStack returns s with another stack and project in all its URNs that have the old ones ([state.md 7.7]), and the root
// stack named after the new ones. s is not changed.
//
// [state.md 7.7]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#77-stack-rename
func RenameStack(s *Snapshot, fromStack, fromProject, toStack, toProject string) (*Snapshot, error) {
	names := renames{}
	add := func(u urn.URN) {
		if u == "" || u.Stack() != fromStack || u.Project() != fromProject {
			return
		}
		now := u.WithStack(toStack).WithProject(toProject)
		if u.IsRootStack() {
			now = urn.RootStack(toStack, toProject)
		}
		names[u] = now
	}
	for _, r := range s.Resources {
		addAll(r, add)
	}
	for _, op := range s.Pending {
		addAll(op.Resource, add)
	}
	return names.everywhere(s)
}

func addAll(r *Resource, add func(urn.URN)) {
	add(r.URN)
	add(r.ViewOf)
	for ref := range r.References() {
		add(ref.URN)
	}
}
