package stages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Reason is why the engine made a decision. It is made with the decision and is part of it. It holds only names: the changed values
// are in the states of its step.
type Reason struct {
	Kind ReasonKind
	// Properties made the difference, sorted: paths of inputs, or for [ReasonOptions] names of options.
	Properties []string
	// Cause is the other resource that made the difference, if one did.
	Cause urn.URN
	// By is the part that compared.
	By Decider
	// Order is why the old object of a replacement is deleted before the new one is made; "" if it is not.
	Order Order
	// Filled are those of Properties that the program does not give: the provider's Check has added or removed them.
	Filled []string
	// Remediated are those of Properties to which a policy has given another value than the program.
	Remediated []string
	// Ignored are the paths of ignoreChanges at which the program gives another value than the recorded one.
	Ignored []string
	// Possible is why a predicted change is only possible; nil if it is certain, and outside of previews.
	Possible *Possibility
}

// Decider is the part that compared and found the difference of a reason, or that there is none.
type Decider string

// The deciders.
const (
	ByNobody     Decider = ""            // nothing was compared
	ByDiff       Decider = "Diff"        // the provider's answer to Diff
	ByDiffConfig Decider = "DiffConfig"  // its answer to DiffConfig, about a change of providers
	ByRead       Decider = "Read"        // its answer to Read
	ByEngine     Decider = "engine"      // the engine compared the inputs: components, and providers that leave it to the engine
	ByNotYet     Decider = "unavailable" // the provider is not configured yet, so this preview cannot compare
)

// Order is why a replacement deletes first ([steps.md 3.9]).
//
// [steps.md 3.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#39-replacement
type Order string

// The origins of the order of a replacement.
const (
	OrderOption      Order = "option"      // deleteBeforeReplace
	OrderProvider    Order = "provider"    // the provider's answer to Diff
	OrderName        Order = "name"        // nothing in its name is random, so that two objects cannot exist
	OrderInterrupted Order = "interrupted" // an earlier run has deleted it
)

// ReasonKind is the kind of a reason.
type ReasonKind string

// The kinds of reasons.
const (
	ReasonNone             ReasonKind = ""
	ReasonNew              ReasonKind = "new"                 // there is no recorded state
	ReasonVanished         ReasonKind = "vanished"            // a refresh did not find it any more
	ReasonUnchanged        ReasonKind = "unchanged"           //
	ReasonInputs           ReasonKind = "inputs"              // Properties changed
	ReasonProviderSaysSo   ReasonKind = "provider-decided"    // the provider named no properties; Properties are the inputs that differ, if any do
	ReasonOptions          ReasonKind = "options"             // only the options in Properties changed
	ReasonReplaceOnChanges ReasonKind = "replace-on-changes"  // Properties are listed in replaceOnChanges
	ReasonTrigger          ReasonKind = "replacement-trigger" //
	ReasonReplaceWith      ReasonKind = "replace-with"        // Cause is replaced
	ReasonDeletedWith      ReasonKind = "deleted-with"        // Cause is replaced
	ReasonProviderChanged  ReasonKind = "provider-changed"    // Cause is the provider
	ReasonDependency       ReasonKind = "dependency-replaced" // Cause is replaced by deleting it first
	ReasonRequested        ReasonKind = "requested"           // --replace
	ReasonTainted          ReasonKind = "tainted"             //
	ReasonInterrupted      ReasonKind = "interrupted"         // an earlier replacement was interrupted, or has failed after its delete
	ReasonInitErrors       ReasonKind = "init-errors"         // it was not healthy after the last update
	ReasonNotInProgram     ReasonKind = "not-in-program"      // the program no longer declares it; Cause is its component, if that was removed too
	ReasonReplaced         ReasonKind = "replaced"            // the old copy of a replaced resource
	ReasonTakenOver        ReasonKind = "taken-over"          // it was only read before
	ReasonDestroy          ReasonKind = "destroy"             //
	ReasonNotTargeted      ReasonKind = "not-targeted"        //
	ReasonCarriedForward   ReasonKind = "carried"             // Cause uses it as it is recorded
	ReasonNeeded           ReasonKind = "needed"              // something that failed or was skipped still uses it
	ReasonUndecided        ReasonKind = "undecided"           // it was not declared, which proves nothing in a run with a failure; Cause is the failed resource, if known
	ReasonRefused          ReasonKind = "refused"             // it failed before anything was decided about it
	ReasonOmitted          ReasonKind = "omitted"             // the program could not declare it, because a resource that it needs was not made
	ReasonRefresh          ReasonKind = "refresh"             // it is read before anything is decided, and could not be
	ReasonDrift            ReasonKind = "drift"               // Properties differ from the recorded ones
	ReasonImport           ReasonKind = "import"              //
	ReasonImportCommand    ReasonKind = "import-command"      // an import without a program
	ReasonRead             ReasonKind = "read"                //
	ReasonReadOther        ReasonKind = "read-other"          // the program names another object to read
	ReasonView             ReasonKind = "view"                // the provider of Cause has decided it
)

// String returns the reason as a clause: "because `region` changed". It is empty where the kind of step is clear enough: "create".
func (r Reason) String() string {
	switch r.Kind {
	case ReasonNew, ReasonUnchanged, ReasonReplaced, ReasonDestroy, ReasonNotTargeted, ReasonCarriedForward, ReasonNeeded, ReasonUndecided, ReasonOmitted, ReasonRead:
		return ""
	}
	return r.Clause()
}

// Clause is [Reason.String] for readers who look for the reason: it is empty only for [ReasonNone].
func (r Reason) Clause() string {
	changed, is := "changed", "is"
	if r.Possible != nil {
		changed, is = "may change", "may be"
	}
	if text, ok := reasonTexts[r.Kind]; ok {
		return "because " + text
	}
	props := quotedNames(r.Properties)
	name := ""
	if r.Cause != "" {
		name = nameAndType(r.Cause)
	}
	switch r.Kind {
	case ReasonInputs:
		if props == "" {
			return "because its inputs " + changed
		}
		return "because " + props + " " + changed
	case ReasonTrigger:
		return "because its replacement trigger " + changed
	case ReasonProviderChanged:
		return "because its provider " + changed
	case ReasonProviderSaysSo:
		switch {
		case r.By == ByNotYet && props == "":
			return "because its provider is not configured yet and cannot tell"
		case r.By == ByNotYet:
			return "because " + props + " changed, and its provider is not configured yet and cannot tell what that needs"
		case props == "":
			return "because its provider reports a change without naming a property"
		}
		return "because " + props + " changed"
	case ReasonOptions:
		return "because only its options changed: " + props
	case ReasonReplaceOnChanges:
		return "because " + props + " " + changed + " and replaceOnChanges names it"
	case ReasonReplaceWith:
		return "because " + name + " " + is + " replaced (replaceWith)"
	case ReasonDeletedWith:
		return "because " + name + " " + is + " replaced (deletedWith)"
	case ReasonDependency:
		if props == "" {
			return "because " + name + " " + is + " replaced"
		}
		return "because " + props + " comes from " + name + ", which " + is + " replaced"
	case ReasonCarriedForward:
		if name == "" {
			return "because something uses it as it is recorded"
		}
		return "because " + name + " uses it as it is recorded"
	case ReasonDrift:
		if props == "" {
			return "because it changed outside"
		}
		return "because " + props + " changed outside"
	case ReasonView:
		return "because the provider of " + name + " says so"
	}
	return ""
}

// Possibly returns why the change is only possible: "`id` of bucket (aws:s3:Bucket) is not known until it is replaced". It is empty
// for a change that is certain.
func (r Reason) Possibly() string {
	switch {
	case r.Possible == nil:
		return ""
	case r.By == ByNotYet:
		return "its provider cannot compare before it is configured"
	case len(r.Possible.Unknowns) == 0 && r.Cause == "":
		return "a value that it depends on is not known yet"
	case len(r.Possible.Unknowns) == 0:
		return "it is not known yet whether " + nameAndType(r.Cause) + " is replaced"
	}
	var texts []string
	said := map[Unknown]bool{}
	for _, u := range r.Possible.Unknowns {
		if u.Output != "" {
			u.Property = "" // several properties may have the same value
		}
		if !said[u] {
			said[u] = true
			texts = append(texts, u.String())
		}
	}
	const most = 3
	if len(texts) > most {
		texts = append(texts[:most-1], fmt.Sprintf("and %d more values are not known", len(texts)-most+1))
	}
	return strings.Join(texts, ", ")
}

// reasonTexts are the clauses of the kinds that need no names.
var reasonTexts = map[ReasonKind]string{
	ReasonNew:           "the program declares it and nothing of the kind is recorded",
	ReasonVanished:      "its provider does not find it any more",
	ReasonUnchanged:     "nothing about it changed",
	ReasonRequested:     "its replacement was requested",
	ReasonTainted:       "it is tainted",
	ReasonInterrupted:   "an earlier replacement was not completed",
	ReasonInitErrors:    "it was not healthy after the last update",
	ReasonNotInProgram:  "the program no longer declares it",
	ReasonReplaced:      "it was replaced",
	ReasonTakenOver:     "the program manages it now",
	ReasonDestroy:       "the whole stack is destroyed",
	ReasonNotTargeted:   "it is not part of the operation",
	ReasonNeeded:        "something that failed or was skipped still uses it",
	ReasonUndecided:     "the program has not declared it, but something failed before, so that it may not have come to that",
	ReasonOmitted:       "the program could not declare it: something that it needs was not made",
	ReasonRefused:       "it failed before anything was decided about it",
	ReasonImport:        "the program imports it",
	ReasonImportCommand: "its import was asked for",
	ReasonRefresh:       "it is to be read anew",
	ReasonRead:          "the program reads it",
	ReasonReadOther:     "the program reads another object under this name",
}

// maxNames is the largest number of names in the words of a reason.
const maxNames = 5

// quotedNames lists names: "`a`, `b`". Several places inside one array are named as that array, and only the first of many names
// are listed.
func quotedNames(names []string) string {
	names = shortened(names)
	more := ""
	if n := len(names) - maxNames + 1; n > 1 {
		names, more = names[:maxNames-1], " and "+strconv.Itoa(n)+" others"
	}
	quoted := make([]string, len(names))
	for i, p := range names {
		quoted[i] = "`" + p + "`"
	}
	return strings.Join(quoted, ", ") + more
}

// shortened puts the array in place of several names inside it: providers name each place that differs.
func shortened(names []string) []string {
	if len(names) < 2 {
		return names
	}
	arrayOf := func(name string) string {
		if path, err := property.ParsePath(name); err == nil {
			if i := slices.IndexFunc(path, func(e property.Element) bool { return e.IsIndex }); i > 0 {
				return path[:i].String()
			}
		}
		return name
	}
	inside := map[string]int{}
	for _, name := range names {
		inside[arrayOf(name)]++
	}
	var out []string
	seen := map[string]bool{}
	for _, name := range names {
		if array := arrayOf(name); inside[array] > 1 {
			name = array
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// InitErrorKey stands for the errors of an unhealthy resource among the names of properties ([steps.md 3.10]).
//
// [steps.md 3.10]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/steps.md#310-replaceonchanges
const InitErrorKey = "#initerror"
