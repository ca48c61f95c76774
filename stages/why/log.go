package why

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// About names the operation of a [Log].
type About struct {
	// Operation is "update", "destroy" or "refresh"; for a preview the previewed one.
	Operation string           `json:"operation"`
	Preview   bool             `json:"preview"`
	Project   string           `json:"project"`
	Stack     string           `json:"stack"`
	Began     time.Time        `json:"began"`
	Ended     time.Time        `json:"ended"`
	Result    stages.RunResult `json:"result"`
}

// Log has the decisions of one operation. It is immutable and safe for concurrent use once it is made.
type Log struct {
	About
	// Decisions are in the order of their URNs, those about one resource in the order in which they were made.
	Decisions []Decision

	index index
}

// findRenames notes the deletes and creates that look like one resource.
func (l *Log) findRenames(decided []stages.Decided) {
	found := map[urn.URN]*renames.Rename{}
	for _, r := range renames.Find(func(yield func(*stages.StepInfo) bool) {
		for _, d := range decided {
			if d.Fate == stages.FateDone && !yield(d.StepInfo) {
				return
			}
		}
	}) {
		found[r.From], found[r.To] = &r, &r
	}
	if len(found) == 0 {
		return
	}
	for i, d := range l.Decisions {
		if d.Op == stages.OpDelete || d.Op == stages.OpCreate {
			l.Decisions[i].Rename = found[d.URN]
		}
	}
}

// Renames returns the deletes and creates of a preview that look like one renamed resource, in the order of their new names,
// containing resources first.
func (l *Log) Renames() []renames.Rename {
	var out []renames.Rename
	for _, d := range l.Decisions {
		if d.Rename != nil && d.Op == stages.OpCreate {
			out = append(out, *d.Rename)
		}
	}
	depth := func(r renames.Rename) int { return strings.Count(string(r.To.QualifiedType()), "$") }
	slices.SortStableFunc(out, func(a, b renames.Rename) int { return cmp.Compare(depth(a), depth(b)) })
	return out
}

// Why explains the decision about a resource, named by its current or a former URN. It returns nil if there is none.
func (l *Log) Why(u urn.URN) *Explanation {
	u, known := l.index.resolve(u)
	if !known {
		return nil
	}
	e := &Explanation{URN: u, Start: len(l.index.byURN[u])}
	place := map[int]int{} // of decisions in Links
	add := func(i int) int {
		if at, ok := place[i]; ok {
			return at
		}
		place[i] = len(e.Links)
		d := l.Decisions[i]
		e.Links = append(e.Links, Link{Decision: d, Type: d.URN.Type(), Name: d.URN.Name(), Because: d.Because(), Possibly: d.why().Possibly()})
		return place[i]
	}
	for _, i := range l.index.byURN[u] {
		add(i)
	}
	for at := 0; at < len(e.Links); at++ {
		for _, c := range e.Links[at].Causes {
			if list := l.index.byURN[c]; len(list) > 0 {
				e.Links[at].Next = append(e.Links[at].Next, add(list[0]))
			}
		}
	}
	return e
}

// Find returns the resources that a text names, in ascending order: by a current or former URN, or by another form of a name (see
// [urn.Called]).
func (l *Log) Find(text string) []urn.URN {
	if u, known := l.index.resolve(urn.URN(text)); known {
		return []urn.URN{u}
	}
	return urn.Called(l.urns(), text)
}

// Nearest returns the resources with the names nearest to a text that names none.
func (l *Log) Nearest(text string) []urn.URN { return state.NearURNs(l.urns(), text) }

// urns returns the resources with a decision, in ascending order.
func (l *Log) urns() []urn.URN { return slices.Sorted(maps.Keys(l.index.byURN)) }

// Write writes the log as JSON: about 200 bytes for a resource that does not change, some kilobytes at most for one that does. It
// is not compressed, so that its content can be inspected.
func (l *Log) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(document{Version: version, About: l.About, Decisions: l.Decisions})
}

// WithPlanned returns the log of an operation that stopped early, with the changes that the preview before it had decided on and
// that the operation did not reach: these are marked as not reached. It returns l if there are none.
func (l *Log) WithPlanned(preview *Log) *Log {
	if l == nil || preview == nil {
		return l
	}
	out, changed := &Log{About: l.About, Decisions: slices.Clone(l.Decisions)}, false
	for _, d := range preview.Decisions {
		if i := slices.IndexFunc(l.index.byURN[d.URN], func(i int) bool { return l.Decisions[i].Reason == stages.ReasonRefused }); i >= 0 && d.acts() {
			at := l.index.byURN[d.URN][i]
			d.Fate, d.Errors, d.Rename, d.Roots = stages.FateFailed, l.Decisions[at].Errors, nil, []Root{RootFailure}
			out.Decisions[at], changed = d, true // what was refused is known
			continue
		}
		if len(l.index.byURN[d.URN]) > 0 || d.Internal || d.Op == stages.OpSame || d.Op == stages.OpRead || d.Op == stages.OpRefresh {
			continue
		}
		d.Fate, d.FailedDependency, d.Rename = stages.FateNotReached, "", nil
		out.Decisions = append(out.Decisions, d)
	}
	if len(out.Decisions) == len(l.Decisions) && !changed {
		return l
	}
	slices.SortStableFunc(out.Decisions, func(a, b Decision) int { return cmp.Compare(a.URN, b.URN) })
	out.index = newIndex(out.Decisions)
	return out
}

// WithDepartures returns the log with departures as the reasons of decisions: a resource that left the state is not new in the
// program, and one that was renamed in the state has not left the program. It returns l if that changes nothing.
func (l *Log) WithDepartures(departures Departures) *Log {
	if l == nil || len(departures) == 0 {
		return l
	}
	var out *Log
	for i, d := range l.Decisions {
		departed, known := departures[d.URN]
		if !known || !departed.Explains(d.URN, d.Reason) {
			continue
		}
		if out == nil {
			out = &Log{About: l.About, Decisions: slices.Clone(l.Decisions), index: l.index}
		}
		of := &out.Decisions[i]
		of.Departure = &departed
		of.Roots = slices.DeleteFunc(slices.Clone(d.Roots), func(r Root) bool { return r == RootProgram })
		of.Roots = append(of.Roots, departed.root())
		slices.Sort(of.Roots)
	}
	if out == nil {
		return l
	}
	return out
}

// WithAnswers returns the log with the times of the answers that providers gave in earlier operations. It returns l if there are none.
func (l *Log) WithAnswers(at map[urn.URN]time.Time) *Log {
	if l == nil || len(at) == 0 {
		return l
	}
	out := &Log{About: l.About, Decisions: slices.Clone(l.Decisions), index: l.index}
	for i, d := range out.Decisions {
		if t, known := at[d.URN]; known && d.DecidedBy == stages.ByDiff {
			t = t.UTC()
			out.Decisions[i].AnsweredAt = &t
		}
	}
	return out
}

// RootCauses returns the root causes of the operation, the most dangerous first. A decision with several root causes belongs to the
// first of them. RootCauses takes one pass over the decisions and their causes.
func (l *Log) RootCauses() []RootCause {
	f := &causeFinder{log: l, groups: map[string]*causeGroup{}, followers: make([][]int, len(l.Decisions)), taken: make([]bool, len(l.Decisions))}
	for i := range l.Decisions {
		f.enter(i)
	}
	groups := f.merged()
	slices.SortFunc(groups, (*causeGroup).compare)
	for _, g := range groups {
		f.follow(g)
	}
	slices.SortStableFunc(groups, (*causeGroup).compare) // following effects may be more dangerous than direct ones
	out := []RootCause{}
	for _, g := range groups {
		if c := g.cause(l); Count(c.Direct)+Count(c.Following) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// effects groups decisions by their kind of change.
func (l *Log) effects(decisions []int) []Effect {
	byOp := map[stages.Op][]urn.URN{}
	for _, i := range decisions {
		if d := &l.Decisions[i]; d.acts() {
			byOp[d.Op] = append(byOp[d.Op], d.URN)
		}
	}
	var out []Effect
	for _, op := range slices.SortedFunc(maps.Keys(byOp), func(a, b stages.Op) int {
		return cmp.Or(cmp.Compare(a.Danger(), b.Danger()), cmp.Compare(a, b))
	}) {
		out = append(out, Effect{op, byOp[op]})
	}
	return out
}

// Decision is the decision about one resource, with its reasons. A replacement is one decision, whatever its steps.
type Decision struct {
	URN urn.URN `json:"urn"`
	// OldURN is the recorded name of a resource that was found by an alias.
	OldURN urn.URN   `json:"oldUrn,omitempty"`
	Op     stages.Op `json:"op"`
	// Fate is its result; "" means that it was done, or could be done in a preview. FailedDependency is the failed resource because
	// of which it was skipped.
	Fate             stages.Fate `json:"fate,omitempty"`
	FailedDependency urn.URN     `json:"blame,omitempty"`
	// Errors are the errors of a failed resource, in the order in which they were reported.
	Errors []string `json:"errors,omitempty"`
	// Parent is the resource that contains this one, "" for the stack.
	Parent urn.URN `json:"parent,omitempty"`
	// Internal marks a default provider.
	Internal bool `json:"internal,omitempty"`

	Reason stages.ReasonKind `json:"reason"`
	// Possible is why the change is only possible, in a preview; nil if it is certain.
	Possible *stages.Possibility `json:"possible,omitempty"`
	// Names are the properties or options that the reason names.
	Names []string `json:"names,omitempty"`
	// Departure is how a resource left the state before the operation, if the reason is that.
	Departure *Departure `json:"departure,omitempty"`
	// Cause is the resource that the reason names.
	Cause     urn.URN        `json:"cause,omitempty"`
	DecidedBy stages.Decider `json:"decidedBy,omitempty"`
	// AnsweredAt is when the provider gave the answer, if it was not asked again in this operation; nil else.
	AnsweredAt *time.Time `json:"answeredAt,omitempty"`
	// ReplaceKeys are the properties that cannot change in place according to the provider.
	ReplaceKeys []string `json:"replaceKeys,omitempty"`
	// DeleteFirst is true for a replacement that deletes the old object first; Order is the origin of that order.
	DeleteFirst bool         `json:"deleteFirst,omitempty"`
	Order       stages.Order `json:"order,omitempty"`
	// OldRemains is true for a replacement whose new object was made and whose old one was not deleted: a later operation deletes
	// it.
	OldRemains bool `json:"oldRemains,omitempty"`
	// Ignored are paths of ignoreChanges at which the program gives another value than the recorded one.
	Ignored []string `json:"ignored,omitempty"`

	// Rename has the delete and the create of a preview that look like one resource, if this is one of them.
	Rename *renames.Rename `json:"rename,omitempty"`

	Properties []Change `json:"properties,omitempty"`
	Options    []Change `json:"options,omitempty"`
	// Unnamed are the places at which the inputs of an updated or replaced resource differ and that the reason does not name,
	// because they are no difference for the provider.
	Unnamed []Change `json:"unnamed,omitempty"`
	// More is the number of changed properties that were left out because there are too many.
	More int `json:"more,omitempty"`
	// Protected is true if the recorded resource is protected from deletion.
	Protected bool `json:"protected,omitempty"`
	// Position is where the program declares the resource: "index.ts:14".
	Position string `json:"position,omitempty"`

	// Causes are the resources whose own decisions led to this one. Roots are its other causes, where chains end.
	Causes []urn.URN `json:"causes,omitempty"`
	Roots  []Root    `json:"roots,omitempty"`
}

// Change is one changed property or option. Values are JSON; a missing one is nil, a secret is the text "[secret]", an
// unknown one "[unknown]", and long ones are cut.
type Change struct {
	Path string `json:"path"`
	// Within is the place in the document in the text at Path. Format is that of the document, "JSON" or "YAML".
	Within string `json:"within,omitempty"`
	Format string `json:"format,omitempty"`
	// Kind is the kind of the change according to the provider, for example "update-replace".
	Kind string          `json:"kind,omitempty"`
	Old  json.RawMessage `json:"old,omitempty"`
	New  json.RawMessage `json:"new,omitempty"`
	// Recorded is the value before a refresh found Old.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Origin   Origin          `json:"origin,omitempty"`
	// From are the changed resources, now or earlier, that the new value comes from. For a value that the program gives, they are
	// those that it may still come from, because the property depends on them. Was has the resources of the old value, if they
	// differ from those of the new one, which are in Is.
	From []urn.URN `json:"from,omitempty"`
	Was  []urn.URN `json:"was,omitempty"`
	Is   []urn.URN `json:"is,omitempty"`
	// Position is the place where the program gives the new value, if it is known better than [Decision.Position].
	Position string `json:"position,omitempty"`
	// Setting is the changed setting of a value from the configuration, if it is known.
	Setting *Setting `json:"setting,omitempty"`
}

// Place returns the place of the change: "policy (JSON) Statement[0].Effect".
func (c Change) Place() string { return place(c.Path, c.Format, c.Within) }

// ForcesReplacement reports whether the change cannot be made in place according to the provider.
func (c Change) ForcesReplacement() bool { return isReplaceKind(c.Kind) }

// keepSame removes the values that differ in another change of the same property.
func (c *Change) keepSame(other Change) {
	if !bytes.Equal(c.Old, other.Old) || !bytes.Equal(c.New, other.New) || !bytes.Equal(c.Recorded, other.Recorded) {
		c.Old, c.New, c.Recorded = nil, nil, nil
	}
}

// Setting is a setting of the stack that has changed since the last operation. Values are as in [Change].
type Setting struct {
	Key      string          `json:"key"` // "shop:region"
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	Position string          `json:"position,omitempty"` // "Pulumi.dev.yaml:3"
}

// Origin is the origin of a new value.
type Origin string

// The origins of values.
const (
	FromResource      Origin = "resource"      // From, which changed in the same operation
	FromEarlier       Origin = "earlier"       // From, which an earlier operation changed without reaching the resource
	FromProgram       Origin = "program"       // the program, or data that it has read
	FromConfiguration Origin = "configuration" // the stack's configuration, or the version of a package
	FromOutside       Origin = "outside"       // somebody changed the object; the program declares the former value
	FromCheck         Origin = "check"         // the provider's Check fills it in
	FromPolicy        Origin = "policy"        // a policy has changed it
	FromProvider      Origin = "provider"      // the inputs are the same: the provider reports a difference to the object
)

// Root is the kind of a root cause: where a chain ends.
type Root string

// The root causes.
const (
	RootProgram       Root = "program"       // the program declares something else, something new, or no longer declares it
	RootConfiguration Root = "configuration" // the stack's configuration, or the version of a package
	RootOutside       Root = "outside"       // the object was changed or deleted outside
	RootProvider      Root = "provider"      // the provider, by itself
	RootPolicy        Root = "policy"        // a policy
	RootCommand       Root = "command"       // the user's command: a destroy, --replace, targets
	RootRecord        Root = "record"        // left by an earlier operation: interrupted, tainted, not healthy, not reached
	RootFailure       Root = "failure"       // it failed, or a dependency of it did
	RootNone          Root = "none"          // nothing changed
)

// why returns the reason of the decision.
func (d *Decision) why() stages.Reason {
	return stages.Reason{Kind: d.Reason, Properties: d.Names, Cause: d.Cause, By: d.DecidedBy, Order: d.Order, Possible: d.Possible}
}

// isLoss reports whether a decision takes a resource out of the state because a refresh has not found its object.
func (d *Decision) isLoss() bool {
	return d.Reason == stages.ReasonVanished && (d.Op == stages.OpRefresh || stages.Removes(d.Op))
}

// Because returns the reason in words.
func (d *Decision) Because() string {
	if d.Departure != nil {
		return "because " + d.Departure.String()
	}
	return d.why().Clause()
}

// danger returns how much a decision may destroy; 0 is most.
func (d *Decision) danger() int {
	if !d.acts() {
		return stages.LeastDanger
	}
	return d.Op.Danger()
}

// acts reports whether a decision changes a resource that users see.
func (d *Decision) acts() bool {
	if d.Internal || d.Op.Danger() == stages.LeastDanger {
		return false
	}
	return d.Op != stages.OpRefresh || d.Reason == stages.ReasonDrift || d.Reason == stages.ReasonVanished
}

// through returns the properties and options by which other resources led to a decision, each once.
func (d *Decision) through() []string {
	switch d.Reason {
	case stages.ReasonReplaceWith:
		return []string{"replaceWith"}
	case stages.ReasonDeletedWith:
		return []string{"deletedWith"}
	}
	var out []string
	for _, list := range [...][]Change{d.Properties, d.Options} {
		for _, c := range list {
			if path := anyIndex(c.Path); c.Origin == FromResource && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// anyIndex replaces the indices in a path: "rules[12].port" is "rules[*].port".
func anyIndex(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	var b strings.Builder
	for path != "" {
		before, rest, found := strings.Cut(path, "[")
		b.WriteString(before)
		if !found {
			break
		}
		index, after, closed := strings.Cut(rest, "]")
		if !closed || index == "" || strings.Trim(index, "0123456789") != "" {
			b.WriteString("[")
			path = rest
			continue
		}
		b.WriteString("[*]")
		path = after
	}
	return b.String()
}
