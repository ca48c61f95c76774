package book

import (
	"fmt"
	"slices"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ViewsOf returns the views that the resource of a step has before the step, those of an old copy for that old copy.
func (book *Book) ViewsOf(owner *stages.Decision) []*state.Resource {
	if owner.Old == nil {
		return book.Results.ViewsOf(owner.URN)
	}
	all := book.Results.ViewsOf(owner.URN)
	if owner.Old.URN != owner.URN {
		all = append(book.Results.ViewsOf(owner.Old.URN), all...)
	}
	return slices.DeleteFunc(all, func(v *state.Resource) bool {
		return v.Delete != owner.Old.Delete || v.Delete && book.Results.isOfAnother(v, owner.Old)
	})
}

// liveViewsOf returns the views of a recorded state that no replacement has marked.
func (book *Book) liveViewsOf(owner *state.Resource) []*state.Resource {
	return slices.DeleteFunc(book.Results.ViewsOf(owner.URN), func(v *state.Resource) bool { return v.Delete })
}

// ViewsOf returns the views that are recorded for a resource, those of its old copies among them.
func (w *results) ViewsOf(u urn.URN) []*state.Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []*state.Resource
	for _, v := range w.views[u] {
		if now := w.follow(v); now != nil {
			out = append(out, now)
		}
	}
	return out
}

// addViews remembers the views of a base. Their states name what they are views of by URN alone: of several copies the one
// before the view is meant, and next to it. Any other choice would do as well, if only each view belongs to one copy.
func (w *results) addViews(base []*state.Resource) {
	w.mu.Lock()
	defer w.mu.Unlock()
	type copies struct {
		of  urn.URN
		old bool
	}
	last := map[copies]*state.Resource{}
	for _, res := range base {
		if res.ViewOf != "" {
			w.views[res.ViewOf] = append(w.views[res.ViewOf], res)
			w.copies[res] = last[copies{res.ViewOf, res.Delete}]
		}
		last[copies{res.URN, res.Delete}] = res
	}
}

// isOfAnother reports whether a view is one of another copy of its resource, and that one still exists.
func (w *results) isOfAnother(v, owner *state.Resource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.follow(w.copies[v])
	return of != nil && of != owner
}

// ClaimView reserves the URN of a view. A view has a URN to itself.
func (book *Book) ClaimView(u, owner urn.URN) (err error) {
	book.Names.exclusively(func() { err = book.Names.claimView(u, owner, book.Base.Olds[u]) })
	return err
}

// claimView is [Book.ClaimView] while the names are locked. old is what is recorded under the URN of the view.
func (n *names) claimView(u, owner urn.URN, old *state.Resource) error {
	other, known := n.views[u]
	_, seen := n.seen[u]
	switch {
	case known && other != owner:
		return fmt.Errorf("%s is a view of %s already; give the view another name", u, other)
	case seen, old != nil && old.ViewOf == "":
		return fmt.Errorf("%s is a resource of the program; give the view another name", u)
	}
	n.views[u] = owner
	return nil
}

// viewNamed returns what a URN is a view of, if it is one. The names must be locked.
func (book *Book) viewNamed(u urn.URN) (owner urn.URN, ok bool) {
	if owner, ok = book.Names.views[u]; ok {
		return owner, true
	}
	if old := book.Base.Olds[u]; old != nil && old.ViewOf != "" {
		return old.ViewOf, true
	}
	return "", false
}
