package rooms

import (
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// OldCopiesOf returns the recorded old copies of an object that an import with this state names, in base order.
func (b *Base) OldCopiesOf(imported *state.Resource) []*state.Resource {
	var out []*state.Resource
	for _, old := range b.OldCopies {
		if IsObjectOf(old, imported) {
			out = append(out, old)
		}
	}
	return out
}

// TakeOver makes the recorded old copies of an imported object retain it (decision 0236): their deletes, in this run or a later one, leave
// the object to the resource that has imported it.
func (rooms *Rooms) TakeOver(imported *state.Resource, c *state.Change) {
	for _, old := range rooms.Base.OldCopiesOf(imported) {
		if now := rooms.Results.Current(old); now != nil && !now.RetainOnDelete {
			marked := now.Clone()
			marked.RetainOnDelete = true
			c.Replace = append(c.Replace, state.Replacement{Old: now, New: marked})
		}
	}
}

// IsTakenOver reports whether an import of this run has made a recorded old copy retain its object.
func (rooms *Rooms) IsTakenOver(old *state.Resource) bool {
	now := rooms.Results.Current(old)
	return old.Delete && now != nil && now.RetainOnDelete && !old.RetainOnDelete
}

// IsObjectOf reports whether a state is about the object of another one, of which one was or is imported. An ID identifies an object only for
// one type and one provider; all default providers of a package count as one. States of one URN are about one object if they
// have its ID, whatever their providers. If nothing was imported, equal IDs mean nothing: some providers give objects of
// equal content equal IDs.
func IsObjectOf(res, imported *state.Resource) bool {
	if res == imported || !res.Custom || res.External || res.Type != imported.Type || res.ID == "" || res.ID != imported.ID && res.ID != imported.ImportID {
		return false
	}
	return res.URN == imported.URN || provides(res.Provider) == provides(imported.Provider)
}

// LiveOf returns the present states with the given IDs that are not old copies, those of this run first.
func (rooms *Rooms) LiveOf(ids map[string]bool) []*state.Resource {
	isLive := func(res *state.Resource) bool {
		return ids[res.ID] && res.Custom && !res.External && !res.Delete && !res.PendingReplacement
	}
	out := rooms.Results.madeThat(isLive)
	seen := map[*state.Resource]bool{}
	for _, res := range out {
		seen[res] = true
	}
	for _, res := range rooms.Base.Resources {
		if now := rooms.Results.Current(res); now != nil && isLive(now) && !seen[now] {
			out = append(out, now)
		}
	}
	return out
}

// provides returns what identifies a provider, whatever its version: its URN, "" for a default provider.
func provides(reference string) urn.URN {
	ref, err := urn.ParseProviderRef(reference)
	if err != nil || ref.URN.IsDefaultProvider() {
		return ""
	}
	return ref.URN
}
