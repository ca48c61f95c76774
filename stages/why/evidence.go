package why

import (
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// maxChanges is the number of changed properties in a decision.
const maxChanges = 32

// evidence gathers the data on which a decision is based.
type evidence struct {
	collector *collector
	step      stages.Decided
	decision  *Decision
	origins   origins
	// named are the places that the reason names, including those that the decision leaves out because there are too many.
	named []string
}

// gather adds the changed values, the resources that they come from, and the root causes.
func (e *evidence) gather() {
	s, d := e.step, e.decision
	switch s.Reason.Kind {
	case stages.ReasonInputs, stages.ReasonReplaceOnChanges:
		e.properties(s.Reason.Properties)
	case stages.ReasonProviderSaysSo:
		e.undetailed()
	case stages.ReasonDrift:
		e.drift()
		e.root(RootOutside)
	case stages.ReasonDependency:
		e.dependency()
	case stages.ReasonReplaceWith, stages.ReasonDeletedWith, stages.ReasonCarriedForward, stages.ReasonView:
		e.causedBy(d.Cause)
	case stages.ReasonProviderChanged:
		e.options([]string{"provider"})
		e.changedProvider()
	case stages.ReasonOptions:
		e.options(s.Reason.Properties)
	case stages.ReasonTrigger:
		e.options([]string{"replacementTrigger"})
	case stages.ReasonRead, stages.ReasonReadOther:
		if s.Wanted != nil { // the ID and the inputs of the query come from these
			e.causedBy(e.collector.sources(d.URN, s.Wanted.Dependencies)...)
		}
	case stages.ReasonNotInProgram, stages.ReasonUndecided:
		e.causedBy(d.Cause)
	}
	if d.Fate == stages.FateSkipped && d.FailedDependency != d.URN {
		e.causedBy(d.FailedDependency)
	}
	if d.Fate == stages.FateFailed {
		e.root(RootFailure)
	}
	if len(d.Causes) == 0 && len(d.Roots) == 0 {
		e.root(rootOf(s))
	}
	slices.Sort(d.Roots)
	if s.Old != nil && s.Wanted != nil && (d.Op == stages.OpUpdate || d.Op == stages.OpReplace) {
		e.unnamed()
	}
}

// unnamed describes the changed inputs that no reason names.
func (e *evidence) unnamed() {
	s, d := e.step, e.decision
	named := map[property.Element][]property.Path{} // by their first elements
	for _, text := range e.named {
		if path, err := property.ParsePath(text); err == nil && len(path) > 0 {
			named[path[0]] = append(named[path[0]], path)
		}
	}
	isNamed := func(at property.Path) bool {
		overlaps := func(n property.Path) bool { return n.Contains(at) || at.Contains(n) }
		return slices.ContainsFunc(named[at[0]], overlaps) || slices.ContainsFunc(named[property.Key("*")], overlaps)
	}
	add := func(at property.Path, c Change) {
		switch {
		case isNamed(at):
		case len(d.Properties)+len(d.Unnamed) >= maxChanges:
			d.More++
		default:
			d.Unnamed = append(d.Unnamed, c)
		}
	}
	for _, name := range property.Diff(s.Old.Inputs.WithoutInternal(), s.Wanted.Inputs.WithoutInternal(), nil).ChangedKeys() {
		path := property.Path{property.Key(name)}
		leaves := e.leaves(path)
		for _, leaf := range leaves {
			add(leaf.Path(), e.leafChange(name, leaf))
		}
		if len(leaves) == 0 {
			add(path, e.propertyChange(name, path, s.Wanted.Inputs.At(name)))
		}
	}
}

// rootOf returns the root cause of a decision that does not follow from another resource.
func rootOf(s stages.Decided) Root {
	switch s.Reason.Kind {
	case stages.ReasonUnchanged:
		return RootNone
	case stages.ReasonVanished, stages.ReasonDrift:
		return RootOutside
	case stages.ReasonProviderSaysSo, stages.ReasonView:
		return RootProvider
	case stages.ReasonRequested, stages.ReasonDestroy, stages.ReasonNotTargeted, stages.ReasonImportCommand, stages.ReasonRefresh:
		return RootCommand
	case stages.ReasonTainted, stages.ReasonInterrupted, stages.ReasonInitErrors, stages.ReasonReplaced:
		return RootRecord
	case stages.ReasonNeeded, stages.ReasonUndecided, stages.ReasonOmitted:
		return RootFailure
	}
	if s.Fate != stages.FateDone && s.Reason.Kind == stages.ReasonNone {
		return RootFailure
	}
	if isDefaultProvider(s) {
		return RootConfiguration
	}
	return RootProgram
}

// isDefaultProvider reports whether the engine itself declares the resource.
func isDefaultProvider(s stages.Decided) bool { return s.Internal && s.Type.IsProvider() }

func (e *evidence) root(r Root) {
	if !slices.Contains(e.decision.Roots, r) {
		e.decision.Roots = append(e.decision.Roots, r)
	}
}

// causedBy adds causes, if something was decided about them, too.
func (e *evidence) causedBy(us ...urn.URN) {
	d := e.decision
	for _, u := range us {
		if _, known := e.collector.steps[u]; known && u != d.URN && !slices.Contains(d.Causes, u) {
			d.Causes = append(d.Causes, u)
		}
	}
}

// properties describes the changed inputs that a reason names.
func (e *evidence) properties(paths []string) {
	for _, n := range e.arrays(paths) {
		text, path, err := n.text, n.path, n.err
		if text == stages.InitErrorKey {
			e.root(RootRecord)
			continue
		}
		switch {
		case e.step.Old == nil || e.step.Wanted == nil: // a delete of a replacement that was not made
			e.change(Change{Path: text, Kind: e.kindOf(text), Origin: FromProgram})
			continue
		case err != nil || len(path) == 0:
			e.change(Change{Path: text, Kind: e.kindOf(text), Origin: FromProvider})
			continue
		}
		e.places(text, path)
	}
}

// places describes a changed input: the places within it that differ, or the input as a whole.
func (e *evidence) places(text string, path property.Path) {
	leaves := e.leaves(path)
	for _, leaf := range leaves {
		e.change(e.leafChange(text, leaf))
	}
	if len(leaves) == 0 {
		is, _ := e.step.Wanted.Inputs.Lookup(path)
		e.change(e.propertyChange(text, path, is))
	}
}

// arrays merges the places of a reason that are inside one array: providers name items by their index, and an item in front of them
// moves all others. The text of a merged place is the first of its places that cannot change in place, or else the first.
func (e *evidence) arrays(paths []string) []namedPlace {
	var out []namedPlace
	at := map[string]int{}
	for _, text := range paths {
		path, err := property.ParsePath(text)
		if i := slices.IndexFunc(path, func(x property.Element) bool { return x.IsIndex }); err == nil && i > 0 && e.areArrays(path[:i]) {
			path = path[:i]
		}
		key := path.String()
		if k, known := at[key]; known && err == nil {
			if isReplaceKind(e.kindOf(text)) && !isReplaceKind(e.kindOf(out[k].text)) {
				out[k].text = text
			}
			continue
		}
		at[key] = len(out)
		out = append(out, namedPlace{text, path, err})
	}
	return out
}

// namedPlace is a place that a reason names.
type namedPlace struct {
	text string
	path property.Path
	err  error
}

func (e *evidence) areArrays(at property.Path) bool {
	if e.step.Old == nil || e.step.Wanted == nil {
		return false
	}
	was, _ := e.step.Old.Inputs.Lookup(at)
	is, _ := e.step.Wanted.Inputs.Lookup(at)
	was, _ = was.Unwrap()
	is, _ = is.Unwrap()
	return was.IsArray() && is.IsArray()
}

// maxLeaves is the number of places within one property that are listed separately.
const maxLeaves = 8

// leaves returns the places within a property at which the values differ, if nothing names them more precisely; nil for the
// property as a whole.
func (e *evidence) leaves(path property.Path) []Differing {
	old, new := e.step.Old.Inputs, e.step.Wanted.Inputs
	if isSecretAt(old, path) || isSecretAt(new, path) {
		return nil
	}
	out, ok := e.collector.viewer.Differences(old, new, path, maxLeaves)
	if !ok {
		return nil
	}
	return out
}

func (e *evidence) kindOf(text string) string {
	if d, ok := e.step.DetailedDiff[text]; ok {
		return d.Kind.String()
	}
	if slices.Contains(e.step.Keys, text) {
		return "replace"
	}
	return ""
}

// change adds a change and its sources.
func (e *evidence) change(c Change) {
	d := e.decision
	if c.Origin != FromEarlier { // sources of an earlier operation do not change in this one
		e.causedBy(c.From...)
	}
	switch c.Origin {
	case FromResource:
	case FromEarlier:
		e.root(RootRecord)
	case FromProgram, FromConfiguration, FromOutside, FromPolicy, FromProvider:
		e.root(Root(c.Origin))
	case FromCheck:
		e.root(RootProvider)
	}
	e.named = append(e.named, c.Path)
	if len(d.Properties) == maxChanges {
		d.More++
		return
	}
	d.Properties = append(d.Properties, c)
}

// leafChange describes the change of one place within an input. text is the place that the reason names.
func (e *evidence) leafChange(text string, leaf Differing) Change {
	at := leaf.Path()
	c := e.propertyChange(text, at, leaf.Is)
	if leaf.Format == "" && slices.Equal(leaf.Difference.New, leaf.Difference.Old) { // the place has one name
		return c
	}
	c.Format, c.Within = leaf.Format, leaf.Within.String()
	if !isHidden(e.step.Wanted.HideDiff, at) {
		c.Old, c.New = leaf.Old, leaf.New
	}
	return c
}

// propertyChange describes the change of one input at a place. text is the name of the place in the reason. value is the new value
// at the place, or at a place in the document there.
func (e *evidence) propertyChange(text string, at property.Path, value property.Value) Change {
	s := e.step
	c := Change{Path: at.String(), Kind: e.kindOf(text)}
	was, is := s.Old.Inputs, s.Wanted.Inputs
	if d, ok := s.DetailedDiff[text]; ok && !d.InputDiff {
		if _, found := s.Old.Outputs.Lookup(at); found {
			was = s.Old.Outputs
		}
	}
	hidden := isHidden(s.Wanted.HideDiff, at)
	if !hidden {
		c.Old, c.New = e.collector.viewer.pairAt(was, is, at)
	}
	name := at[0].Key
	deps, before := s.Wanted.PropertyDependencies[name], s.Old.PropertyDependencies[name]
	recorded, _ := e.collector.drifted(e.decision.URN)
	from, sure := e.collector.sources(e.decision.URN, deps), true
	if whole, _ := is.Get(name); len(from) > 0 && !property.Equal(value, whole) {
		from, sure = e.origins.traced(from, value, whole, e.origins.settingTexts(s.Old.Inputs, is, at))
	}
	switch {
	case slices.Contains(s.Reason.Remediated, text):
		c.Origin = FromPolicy
	case slices.Contains(s.Reason.Filled, text):
		c.Origin = FromCheck
	case recorded != nil && !equalAt(recorded.Inputs, s.Old.Inputs, at) && equalAt(recorded.Inputs, is, at):
		c.Origin = FromOutside
		if !hidden {
			_, c.Recorded = e.collector.viewer.pairAt(was, recorded.Inputs, at)
		}
	case len(from) > 0 && sure:
		c.Origin, c.From = FromResource, from
	case equalAt(s.Old.Inputs, is, at):
		c.Origin = FromProvider
	case isDefaultProvider(s):
		c.Origin = FromConfiguration
		e.origins.fromPackage(&c, at)
	default:
		if len(from) == 0 {
			if c.From = e.origins.earlier(deps, before, at, value); len(c.From) > 0 {
				c.Origin = FromEarlier
				break
			}
		}
		c.Origin, c.From = FromProgram, from
		if was, is := currentNames(before, e.collector.recordedName), currentNames(deps, e.collector.newName); !slices.Equal(was, is) {
			c.Was, c.Is = was, is
		}
		e.origins.fromProgram(&c, s.Old.Inputs, is, at)
		if hidden && c.Setting != nil {
			c.Setting.Old, c.Setting.New = nil, nil
		}
	}
	return c
}

// undetailed handles providers that report a change and not its properties: it compares the inputs.
func (e *evidence) undetailed() {
	s := e.step
	if s.Reason.By == stages.ByNotYet {
		if ref, err := urn.ParseProviderRef(s.Provider); err == nil {
			e.causedBy(ref.URN)
		}
	}
	if s.Old == nil || s.Wanted == nil {
		return
	}
	e.properties(property.Diff(s.Old.Inputs.WithoutInternal(), s.Wanted.Inputs.WithoutInternal(), nil).ChangedKeys())
}

// drift describes the result of a refresh: the outputs, and the inputs where the provider compares those.
func (e *evidence) drift() {
	s := e.step
	if s.New == nil {
		return
	}
	for _, text := range s.Reason.Properties {
		path, err := property.ParsePath(text)
		if err != nil || len(path) == 0 {
			e.change(Change{Path: text, Origin: FromOutside})
			continue
		}
		c := Change{Path: text, Kind: e.kindOf(text), Origin: FromOutside}
		was, is := s.Old.Outputs, s.New.Outputs
		if d, ok := s.DetailedDiff[text]; ok && d.InputDiff || equalAt(was, is, path) {
			was, is = s.Old.Inputs, s.New.Inputs
		}
		if !isHidden(s.Old.HideDiff, path) {
			c.Old, c.New = e.collector.viewer.pairAt(was, is, path)
		}
		e.change(c)
	}
}

// dependency describes a resource that is deleted because a dependency of it is deleted first.
func (e *evidence) dependency() {
	d, s := e.decision, e.step
	e.causedBy(d.Cause)
	for _, text := range s.Reason.Properties {
		c := Change{Path: text, Kind: e.kindOf(text), Origin: FromResource, From: []urn.URN{d.Cause}}
		path, err := property.ParsePath(text)
		if s.Old != nil && err == nil && len(path) > 0 && !isHidden(s.Old.HideDiff, path) {
			c.Old = e.collector.viewer.shownAt(s.Old.Inputs, path)
		}
		e.change(c)
	}
}

// changedProvider continues the chain at the new provider, if that is new or replaced itself.
func (e *evidence) changedProvider() {
	cause := e.decision.Cause
	if slices.ContainsFunc(e.collector.steps[cause], func(s stages.Decided) bool { return s.Op != stages.OpSame }) {
		e.causedBy(cause)
	}
}

// options describes changed options.
func (e *evidence) options(names []string) {
	s, d := e.step, e.decision
	if s.Old == nil || s.Wanted == nil {
		return
	}
	for _, name := range names {
		c := Change{Path: name, Old: e.collector.viewer.optionOf(s.Old, name), New: e.collector.viewer.optionOf(s.Wanted, name), Origin: FromProgram}
		if name == "replacementTrigger" && (s.Old.ReplacementTrigger.HasSecrets() || s.Wanted.ReplacementTrigger.HasSecrets()) {
			c.Old, c.New = encoded(secretText), encoded(secretText)
		}
		if ref, err := urn.ParseProviderRef(s.Wanted.Provider); name == "provider" && err == nil && e.collector.hasChanged(ref.URN) {
			c.Origin, c.From = FromResource, []urn.URN{ref.URN}
			e.causedBy(ref.URN)
		} else {
			e.root(RootProgram)
		}
		d.Options = append(d.Options, c)
	}
}
