package simulate

import "slices"

// verifyPolicies checks that violations of mandatory policies are errors, and that created resources are recorded
// with remedied properties.
func (a verification) verifyPolicies() {
	if a.judges == nil {
		return
	}
	if a.err == nil && a.judges.hasMandatory() {
		a.fault("it succeeds, and something violates a mandatory policy")
	}
	for _, r := range a.after.resources() {
		if a.after.isPending(r.URN) { // the created properties may differ from the recorded ones
			continue
		}
		made := slices.ContainsFunc(a.calls, func(c *call) bool {
			return c.urn == r.URN && !r.Delete && c.err == nil && (c.method == "create" && c.id == "" || c.method == "update" && c.id == r.ID)
		})
		for _, p := range a.op.Policies {
			if !made || p.Do != Remedy || !p.concerns(r.URN, r.Inputs) || a.op.Refresh {
				continue
			}
			if v, _ := r.Inputs.At(p.Property).Unwrap(); !v.IsString() || v.AsString() != remedied {
				a.fault("%s is recorded with inputs that a policy remedies: %v", r.URN, r.Inputs.At(p.Property))
			}
		}
	}
}
