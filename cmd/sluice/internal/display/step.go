package display

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/maruel/natural"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// stepPrinter formats steps.
type stepPrinter struct {
	Options
	style style
	// unchanged reports whether a resource is known to stay unchanged, so that nothing waits for it; nil if that is unknown for
	// all.
	unchanged func(urn.URN) bool
	// aborts is true if the user has requested an abort. The end of the text then reports aborted steps once.
	aborts bool
}

// layout returns the layout of the text.
func (p stepPrinter) layout() layout { return layout{p.Width, p.ShowURNs} }

// unchangedReason is the reason of a refresh that found no drift.
const unchangedReason = stages.ReasonKind("unchanged")

// shows reports whether a step gets a line of its own.
func (p stepPrinter) shows(s stages.StepInfo) bool {
	switch {
	case s.Op == stages.OpRefresh:
		return s.Reason.Kind != unchangedReason || p.ShowSames && !s.Internal
	case s.Internal:
		return false
	case s.Op == stages.OpSame:
		return p.ShowSames || s.FormerURN() != ""
	case s.Op == stages.OpRead || s.Op == stages.OpReadReplacement:
		return p.ShowReads
	case s.Op == stages.OpRemovePendingReplace:
		return p.ShowReplacementSteps
	case isReplacementPart(s.Op):
		return !p.IsPreview || p.ShowReplacementSteps
	}
	return true
}

// subject returns the resource of a step: its type and name, or its URN.
func (p stepPrinter) subject(u urn.URN) string {
	if p.ShowURNs {
		return cleanLine(string(u))
	}
	return shortType(u.Type()) + " " + cleanLine(u.Name())
}

// shortType drops the part of a module that repeats the name of the type: "aws:s3/bucket:Bucket" is "aws:s3:Bucket".
func shortType(t urn.Type) string { return cleanLine(t.Short()) }

// kinds caches the displayed forms of types.
type kinds map[urn.Type]string

func (k kinds) of(u urn.URN) string {
	t := u.Type()
	if _, known := k[t]; !known {
		k[t] = shortType(t)
	}
	return k[t]
}

// compare orders resources by their displayed types, then by their names in natural order.
func (k kinds) compare(a, b urn.URN) int {
	return cmp.Or(compareKinds(k.of(a), k.of(b)), natural.Compare(a.Name(), b.Name()), cmp.Compare(a, b))
}

// ByKindAndName returns the display order of resources. It is not safe for concurrent use.
func ByKindAndName() func(a, b urn.URN) int { return kinds{}.compare }

// compareKinds orders displayed types. Most pairs are equal.
func compareKinds(a, b string) int {
	if a == b {
		return 0
	}
	return natural.Compare(a, b)
}

// fate describes the actual or planned change of a resource: "replaced because ... (0.58s) [diff: ~size]".
func (p stepPrinter) fate(s stages.StepInfo, took time.Duration) string {
	w := wordsFor(s.Op)
	said := w.done
	if p.IsPreview {
		said = possibly(s) + w.plan
	}
	if s.Op == stages.OpSame {
		if former := renamedFrom(s); former != "" {
			return former
		}
		said = "unchanged"
	}
	if s.Retains() && (s.Op == stages.OpDelete || s.Op == stages.OpDeleteReplaced) {
		said += " (its object is retained)"
	}
	return p.fateAs(said, s, took)
}

// renamedFrom names the former name of a resource that was found by an alias: "renamed from net". It is "" for any other resource.
func renamedFrom(s stages.StepInfo) string {
	if former := s.FormerURN(); former != "" {
		return RenamedFrom(former, s.New.URN)
	}
	return ""
}

// RenamedFrom describes how the name of a resource that was found by an alias differs from its former one: "renamed from net", or "moved from
// below my:Box" for another parent.
func RenamedFrom(former, now urn.URN) string {
	types := former.QualifiedType()
	switch parents := strings.TrimSuffix(strings.TrimSuffix(string(types), string(former.Type())), "$"); {
	case former.Stack() != now.Stack() || former.Project() != now.Project():
		return "renamed from " + cleanLine(string(former))
	case former.Type() != now.Type():
		return "renamed from " + shortType(former.Type()) + " " + cleanLine(former.Name())
	case former.Name() != now.Name():
		return "renamed from " + cleanLine(former.Name())
	case parents == "":
		return "moved from the top level"
	default:
		return "moved from below " + cleanLine(strings.ReplaceAll(parents, "$", " → "))
	}
}

// fateAs is [stepPrinter.fate] with another word for the change.
func (p stepPrinter) fateAs(said string, s stages.StepInfo, took time.Duration) string {
	return p.style.paint(wordsFor(s.Op).colour, said) + p.circumstances(s, took)
}

// circumstances returns what is said about a change after the word for it: its reason, its time, and the properties that differ.
func (p stepPrinter) circumstances(s stages.StepInfo, took time.Duration) (said string) {
	if because := p.reasonOf(s); because != "" {
		said += " " + because
	}
	if took > 0 && !p.IsPreview {
		said += " (" + formatTook(took) + ")"
	}
	if p.isUnrealized(s) {
		said += " (did not happen last time)"
	}
	if former := renamedFrom(s); former != "" {
		said += ", " + former
	}
	return said + p.diffSummary(s)
}

// isUnrealized reports whether a step is a possible change that was unrealized the last time.
func (p stepPrinter) isUnrealized(s stages.StepInfo) bool {
	return s.IsPossible() && p.Unrealized[s.URN] == s.Op
}

// doing returns the word for a running step: "creating", or "planning to create".
func (p stepPrinter) doing(op stages.Op) string {
	w := wordsFor(op)
	if p.IsPreview && w.plan != "" {
		return "planning to " + w.plan
	}
	return w.running
}

// describe describes a running step: "creating pkg:mod:Type db (1m12s)".
func (p stepPrinter) describe(r runningStep, now time.Time) string {
	return fmt.Sprintf("%s %s (%s)", p.doing(r.step.Op), p.subject(r.step.URN), r.elapsed(now))
}

// failed describes a failed step with its error. In a preview, the errors are at the end, and the row has the reason and the differences.
func (p stepPrinter) failed(s stages.StepInfo, err error, took time.Duration) string {
	w := wordsFor(s.Op)
	fate := " failed"
	if p.aborts {
		fate, err = " aborted", nil
	}
	said := strings.TrimPrefix(w.running+fate, " ")
	if p.IsPreview {
		said = strings.TrimPrefix(w.plan+fate, " ")
	}
	said = "**" + said + "**"
	said = p.style.paint(red, said)
	if p.IsPreview {
		said += p.circumstances(s, took)
	} else if took > 0 {
		said += " (" + formatTook(took) + ")"
	}
	if err != nil {
		said += " error: " + firstLine(err.Error())
	}
	return said
}

// reasonOf returns the reason of a step if it is worth showing, for example that of a replacement, else "".
func (p stepPrinter) reasonOf(s stages.StepInfo) string {
	if d := p.departureOf(s); d != "" {
		return "because " + d
	}
	switch s.Op {
	case stages.OpReplace, stages.OpRefresh:
		return cleanLine(s.Reason.String())
	case stages.OpCreate:
		if s.Reason.Kind == stages.ReasonVanished {
			return cleanLine(s.Reason.String())
		}
	case stages.OpDelete, stages.OpUpdate, stages.OpDiscard:
		if s.Op == stages.OpUpdate && len(s.Reason.Properties) > 0 {
			return "" // the changed properties are listed anyway
		}
		return cleanLine(s.Reason.String())
	}
	return ""
}

// departureOf returns how the resource of a step left the state before the operation, if the step follows from that, else "".
func (p stepPrinter) departureOf(s stages.StepInfo) string {
	if d, known := p.Departures[s.URN]; known && d.Explains(s.URN, s.Reason.Kind) {
		return cleanLine(d.String())
	}
	return ""
}

// diffSummary lists the changed properties of an update or replacement: "[diff: +added,-removed,~changed]".
func (p stepPrinter) diffSummary(s stages.StepInfo) string {
	if p.Diff || s.Old == nil || s.New == nil || s.Op == stages.OpSame || s.Op == stages.OpCreateReplacement {
		return ""
	}
	const most = 12
	var parts []string
	for _, name := range changedProperties(s) {
		_, was := s.Old.Inputs.Get(name)
		_, is := s.New.Inputs.Get(name)
		sign := changed
		switch {
		case is && !was:
			sign = added
		case was && !is:
			sign = removed
		}
		parts = append(parts, string(sign)+cleanLine(name))
	}
	if s.Old.Protect != s.New.Protect {
		parts = append(parts, "~protect")
	}
	if s.Old.Provider != s.New.Provider {
		parts = append(parts, "~provider")
	}
	if len(parts) == 0 {
		return ""
	}
	if len(parts) > most {
		parts = append(parts[:most], fmt.Sprintf("... %d more", len(parts)-most))
	}
	return " [diff: " + strings.Join(parts, ",") + "]"
}

// changedProperties returns the names of the changed top-level properties, according to the provider or, if it reports none, to
// the inputs.
func changedProperties(s stages.StepInfo) []string {
	names := map[string]bool{}
	for _, text := range slices.Concat(s.Diffs, slices.Sorted(maps.Keys(s.DetailedDiff))) {
		if path, err := property.ParsePath(text); err == nil && len(path) > 0 && !path[0].IsIndex {
			names[path[0].Key] = true
		} else {
			names[text] = true
		}
	}
	if len(names) == 0 {
		for _, name := range slices.Concat(s.Old.Inputs.Names(), s.New.Inputs.Names()) {
			if !property.IsInternalName(name) && !property.Equal(s.Old.Inputs.At(name), s.New.Inputs.At(name)) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func formatTook(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s"
	}
	return d.Truncate(time.Second).String()
}

func firstLine(text string) string {
	text = strings.TrimSpace(clean(text))
	first, _, more := strings.Cut(text, "\n")
	const most = 300
	if len(first) > most {
		first, more = strings.ToValidUTF8(first[:most], ""), true
	}
	if more {
		first += " ..."
	}
	return cleanLine(first)
}
