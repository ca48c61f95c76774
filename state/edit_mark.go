package state

// SetProtect returns s with the given entries protected or not, and the entries that this changed. s itself is returned
// if nothing changed ([state.md 7.10]).
//
// [state.md 7.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#710-state
func SetProtect(s *Snapshot, resources []*Resource, protect bool) (*Snapshot, []*Resource) {
	return setFlag(s, resources, func(r *Resource) *bool { return &r.Protect }, protect)
}

// SetTaint returns s with the given entries marked for replacement by the next update or not, and the entries that this
// changed. s itself is returned if nothing changed ([steps.md 3.16]).
//
// [steps.md 3.16]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#316-leftovers-of-earlier-runs
func SetTaint(s *Snapshot, resources []*Resource, taint bool) (*Snapshot, []*Resource) {
	return setFlag(s, resources, func(r *Resource) *bool { return &r.Taint }, taint)
}

// SetRetain returns s with the given entries marked to retain their objects when they are deleted or replaced, or not, and the entries that this
// changed. s itself is returned if nothing changed.
func SetRetain(s *Snapshot, resources []*Resource, retain bool) (*Snapshot, []*Resource) {
	return setFlag(s, resources, func(r *Resource) *bool { return &r.RetainOnDelete }, retain)
}

func setFlag(s *Snapshot, resources []*Resource, field func(*Resource) *bool, value bool) (*Snapshot, []*Resource) {
	if s == nil {
		return nil, nil
	}
	wanted := make(map[*Resource]bool, len(resources))
	for _, r := range resources {
		wanted[r] = true
	}
	var changed []*Resource
	out := *s
	out.Resources = make([]*Resource, len(s.Resources))
	for i, r := range s.Resources {
		if wanted[r] && *field(r) != value {
			r = r.Clone()
			*field(r) = value
			changed = append(changed, r)
		}
		out.Resources[i] = r
	}
	if changed == nil {
		return s, nil
	}
	return &out, changed
}
