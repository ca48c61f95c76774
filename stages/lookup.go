package stages

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Lookup is the stage that owns names: it numbers registrations in order of arrival, gives each its URN, and finds the
// recorded state that it continues, under its own URN or an alias (steps.md 2). The first claim wins; a second one is an
// error. It has one writer, calls no provider, and takes microseconds.
func Lookup(run *Run) pipeline.Stage[Registered, Located] {
	r := &namer{control: run.control, book: run.book, Registry: run.Registry}
	return pipeline.Stage[Registered, Located]{
		Name:    "lookup",
		Workers: 1,
		Buffer:  64,
		Run: func(_ context.Context, in Registered, emit pipeline.Emit[Located]) error {
			l, code, err := r.locate(in)
			switch {
			case err != nil && l.Goal != nil && (code == codeDuplicateAlias || code == codeURNIsAlias):
				// Its inputs are still checked, so that more problems come to light at once (steps.md 2.4).
				r.diagnose(l.URN, Error, code, err.Error())
				l.invalid = err
			case err != nil:
				return r.bail(l, code, err)
			}
			if l.Alias != "" && in.subject().typ.IsProvider() {
				r.Registry.Alias(l.Alias, l.URN)
			}
			return emit(l)
		},
	}
}

// subject is what registrations and reads have in common for the finding of names.
type subject struct {
	parent  urn.URN
	typ     urn.Type
	name    string
	aliases []urn.Alias
}

func (in Registered) subject() subject {
	if in.Read != nil {
		return subject{parent: in.Read.Parent, typ: in.Read.Type, name: in.Read.Name}
	}
	return subject{parent: in.Goal.Parent, typ: in.Goal.Type, name: in.Goal.Name, aliases: in.Goal.Aliases}
}

// locate numbers a registration, gives it its URN and finds the recorded state that it continues, as one action (ORD-1). The
// error is one of the program, with the code of its diagnostic.
func (r *book) locate(in Registered) (l Located, code int, err error) {
	n := r.names
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	l = Located{Registered: in, Seq: n.next}
	code, err = r.claim(&l)
	r.include(&l)
	if err == nil {
		r.standBy(&l)
	}
	return l, code, err
}

// claim does the work of locate. The names must be locked.
func (r *book) claim(l *Located) (code int, err error) {
	n, s := r.names, l.subject()
	if s.parent != "" {
		if _, ok := n.seen[s.parent]; !ok && !n.kept[s.parent] {
			return 0, fmt.Errorf("could not find parent resource %v", s.parent)
		}
	}
	who := urn.Subject{Stack: r.root.Stack(), Project: r.root.Project(), Type: s.typ, Name: s.name, Parent: s.parent}
	l.URN = who.URN()
	if _, ok := n.seen[l.URN]; ok {
		return codeDuplicateURN, fmt.Errorf("Duplicate resource URN '%v'; try giving it a unique name", l.URN)
	}
	if owner, ok := r.viewNamed(l.URN); ok {
		return 0, fmt.Errorf("%v is a view that the provider of %v publishes: give the resource another name", l.URN, owner)
	}
	n.seen[l.URN] = l.Seq
	if old, ok := n.aliased[l.URN]; ok {
		l.Old = r.base.olds[l.URN]
		return codeURNIsAlias, fmt.Errorf("Duplicate resource URN '%v' conflicting with alias on resource with URN '%v'", l.URN, old)
	}
	if l.Old = r.base.olds[l.URN]; l.Old == nil {
		if code, err = r.claimAlias(l, who, s.aliases); err != nil {
			return code, err
		}
	}
	if l.claimed = l.Old; l.Old != nil {
		n.claim(l.Old, l.Seq)
	}
	l.interrupted = r.interruptionOf(l, who, s.aliases)
	return 0, nil
}

// claimAlias looks for a recorded state under the aliases, in their order (steps.md 2.3, 2.4).
func (r *book) claimAlias(l *Located, who urn.Subject, aliases []urn.Alias) (code int, err error) {
	n := r.names
	for _, a := range urn.ExpandAliases(who, aliases, n.matched) {
		old := r.base.olds[a]
		if old == nil || old.ViewOf != "" {
			continue
		}
		const text = "Duplicate resource alias '%v' applied to resource with URN '%v' conflicting with resource with URN '%v'"
		l.Old = old
		if _, ok := n.seen[a]; ok {
			return codeDuplicateAlias, fmt.Errorf(text, a, l.URN, l.URN)
		}
		if other, ok := n.aliased[a]; ok {
			return codeDuplicateAlias, fmt.Errorf(text, a, l.URN, other)
		}
		n.aliased[a], n.aliasOf[l.URN] = l.URN, a
		l.Alias = a
		return 0, nil
	}
	return 0, nil
}

// Numbers of diagnostics (steps.md appendix B).
const (
	codeFailed          = 2000
	codeDuplicateURN    = 2001
	codeInvalidResource = 2002
	codeInvalidProperty = 2003
	codePreviewFailed   = 2005
	codeBadProvider     = 2006
	codeUnknownProvider = 2007
	codeDuplicateAlias  = 2008
	codeProviderDenied  = 2015
	codeURNIsAlias      = 2016
	codeCallFailed      = 2017

	codeTargetNotFound       = 2010
	codeTargetNotFoundEscape = 2011
	codeUntargetedCreate     = 2013
	codeUntargetedDelete     = 2014
)

// newState builds the state that a registration describes (steps.md 3.2). inputs are the checked ones.
func (l Located) newState(inputs Checked) *state.Resource {
	g := l.Goal
	s := &state.Resource{
		URN: l.URN, Custom: g.Custom, Type: g.Type, Inputs: inputs.Inputs, Parent: g.Parent,
		Protect: isTrue(g.Protect), Dependencies: g.Dependencies, Provider: g.Provider,
		PropertyDependencies: g.PropertyDependencies, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		CustomTimeouts: g.CustomTimeouts, ImportID: g.ImportID, RetainOnDelete: isTrue(g.RetainOnDelete),
		DeletedWith: g.DeletedWith, ReplaceWith: g.ReplaceWith, SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
		IgnoreChanges: g.IgnoreChanges, HideDiff: g.HideDiff, ReplaceOnChanges: g.ReplaceOnChanges,
		ReplacementTrigger: g.ReplacementTrigger, ResourceHooks: g.ResourceHooks, ExtensionRef: g.ExtensionRef,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.imported {
		s.ReplacementTrigger = property.Null // as recorded by the import (steps.md 4.2)
	}
	if l.Old != nil {
		s.Created, s.Modified, s.RefreshBeforeUpdate = l.Old.Created, l.Old.Modified, l.Old.RefreshBeforeUpdate
	}
	return s
}

// unmade returns the state of a registration or a read before anything is done.
func (l Located) unmade(inputs Checked) *state.Resource {
	if l.Read != nil {
		return l.newRead()
	}
	return l.newState(inputs)
}

// newRead returns the state of a read before it is made. Of an ID that is not known it has none.
func (l Located) newRead() *state.Resource {
	g := l.Read
	s := &state.Resource{
		URN: l.URN, Custom: true, Type: g.Type, ID: g.ID.AsString(), Inputs: g.Properties, Parent: g.Parent, External: true,
		Dependencies: g.Dependencies, Provider: g.Provider, ExtensionRef: g.ExtensionRef, AdditionalSecretOutputs: g.AdditionalSecretOutputs,
		SourcePosition: g.SourcePosition, StackTrace: g.StackTrace,
	}
	if l.Alias != "" {
		s.Aliases = []urn.URN{l.Alias}
	}
	if l.Old != nil {
		s.Created, s.Modified = l.Old.Created, l.Old.Modified
	}
	return s
}

func isTrue(b *bool) bool { return b != nil && *b }
