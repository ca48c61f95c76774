package book

import (
	"fmt"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Locate numbers a registration, gives it its URN and finds the recorded state that it continues, as one action (ORD-1). The
// error is one of the program, with the code of its diagnostic.
func (book *Book) Locate(in stages.Registered) (l stages.Located, code int, err error) {
	n, find := book.Names, locator{book}
	n.exclusively(func() {
		n.next++
		l = stages.Located{Registered: in, Seq: n.next}
		code, err = find.claim(&l)
		find.include(&l)
		if err == nil {
			find.chooseCourse(&l)
		}
	})
	return l, code, err
}

// locator is what lookup knows and decides while the names are locked.
type locator struct{ book *Book }

// claim does the work of locate. The names must be locked.
func (find locator) claim(l *stages.Located) (code int, err error) {
	n, s := find.book.Names, l.Subject()
	if s.Parent != "" {
		if _, ok := n.seen[s.Parent]; !ok && !n.kept[s.Parent] {
			return 0, fmt.Errorf("could not find parent resource %v", s.Parent)
		}
	}
	who := urn.Subject{Stack: find.book.root.Stack(), Project: find.book.root.Project(), Type: s.Typ, Name: s.Name, Parent: s.Parent}
	l.URN = who.URN()
	if _, ok := n.seen[l.URN]; ok {
		return stages.CodeDuplicateURN, fmt.Errorf("Duplicate resource URN '%v'; try giving it a unique name", l.URN)
	}
	if owner, ok := find.book.viewNamed(l.URN); ok {
		return 0, fmt.Errorf("%v is a view that the provider of %v publishes: give the resource another name", l.URN, owner)
	}
	n.seen[l.URN] = l.Seq
	if old, ok := n.aliased[l.URN]; ok {
		l.Old = find.book.Base.Olds[l.URN]
		return stages.CodeURNIsAlias, fmt.Errorf("Duplicate resource URN '%v' conflicting with alias on resource with URN '%v'", l.URN, old)
	}
	if l.Old = find.book.Base.Olds[l.URN]; l.Old == nil {
		if code, err = find.claimAlias(l, who, s.Aliases); err != nil {
			return code, err
		}
	}
	if err := find.checkReferences(l); err != nil {
		return 0, err
	}
	if l.Claimed = l.Old; l.Old != nil {
		n.claim(l.Old, l.Seq)
	}
	l.InterruptedCreate = find.interruptionOf(l, who, s.Aliases)
	return 0, nil
}

// claimAlias looks for a recorded state under the aliases, in their order (steps.md 2.3, 2.4).
func (find locator) claimAlias(l *stages.Located, who urn.Subject, aliases []urn.Alias) (code int, err error) {
	n := find.book.Names
	for _, a := range urn.ExpandAliases(who, aliases, n.matched) {
		old := find.book.Base.Olds[a]
		if old == nil || old.ViewOf != "" {
			continue
		}
		const text = "Duplicate resource alias '%v' applied to resource with URN '%v' conflicting with resource with URN '%v'"
		l.Old = old
		if _, ok := n.seen[a]; ok {
			return stages.CodeDuplicateAlias, fmt.Errorf(text, a, l.URN, l.URN)
		}
		if other, ok := n.aliased[a]; ok {
			return stages.CodeDuplicateAlias, fmt.Errorf(text, a, l.URN, other)
		}
		n.aliased[a], n.aliasOf[l.URN] = l.URN, a
		l.Alias = a
		return 0, nil
	}
	return 0, nil
}
