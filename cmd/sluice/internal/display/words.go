package display

import (
	"fmt"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display/tree"
	"github.com/sluice-iac/sluice/stages"
)

// words are the terms for a kind of step (protocol.md 10.5).
type words struct {
	mark    string
	colour  colour
	plan    string // used in a preview
	running string
	done    string
	// planned and changed are used in the summary, "" for kinds that are not counted.
	planned, changed string
}

var vocabulary = map[stages.Op]words{
	stages.OpSame:                 {"  ", plain, "", "", "", "unchanged", "unchanged"},
	stages.OpCreate:               {"+ ", green, "create", "creating", "created", "to create", "created"},
	stages.OpUpdate:               {"~ ", yellow, "update", "updating", "updated", "to update", "updated"},
	stages.OpDelete:               {"- ", red, "delete", "deleting", "deleted", "to delete", "deleted"},
	stages.OpReplace:              {"+-", magenta, "replace", "replacing", "replaced", "to replace", "replaced"},
	stages.OpCreateReplacement:    {"++", green, "create replacement", "creating replacement", "created replacement", "", ""},
	stages.OpDeleteReplaced:       {"--", red, "delete original", "deleting original", "deleted original", "", ""},
	stages.OpRead:                 {"> ", cyan, "read", "reading", "read", "", ""},
	stages.OpReadReplacement:      {">>", magenta, "read for replacement", "reading for replacement", "read for replacement", "", ""},
	stages.OpRefresh:              {"~ ", yellow, "refresh", "refreshing", "refreshed", "", ""},
	stages.OpDiscard:              {"< ", red, "discard", "discarding", "discarded", "to discard", "discarded"},
	stages.OpDiscardReplaced:      {"<<", red, "discard original", "discarding original", "discarded original", "", ""},
	stages.OpRemovePendingReplace: {"~ ", plain, "complete replacement", "completing replacement", "completed replacement", "", ""},
	stages.OpImport:               {"= ", green, "import", "importing", "imported", "to import", "imported"},
	tree.Renamed:                  {"  ", plain, "rename", "renaming", "renamed", "", ""},
	stages.OpImportReplacement:    {"=>", magenta, "import replacement", "importing replacement", "imported replacement", "", ""},
}

// summaryOrder is the order of the lines in the summary: the most dangerous first.
var summaryOrder = [...]stages.Op{
	stages.OpDelete, stages.OpDiscard, stages.OpReplace, stages.OpUpdate, stages.OpImport, stages.OpCreate,
}

func wordsFor(op stages.Op) words {
	if w, ok := vocabulary[op]; ok {
		return w
	}
	text := string(op)
	return words{"  ", plain, text, text, text, text, text}
}

// isReplacementPart reports whether op is a part of a replacement that is usually shown as one step.
func isReplacementPart(op stages.Op) bool {
	switch op {
	case stages.OpCreateReplacement, stages.OpDeleteReplaced, stages.OpReadReplacement, stages.OpDiscardReplaced,
		stages.OpRemovePendingReplace, stages.OpImportReplacement:
		return true
	}
	return false
}

// possibly is the word for a change that is only possible, and "" for a certain one.
func possibly(s stages.StepInfo) string {
	if s.IsPossible() {
		return "possibly "
	}
	return ""
}

// isCertain reports whether a step of a preview is a change that will happen, whatever the unknown values turn out to be.
func isCertain(s stages.StepInfo) bool { return !s.IsPossible() && isChange(s.Op) }

// isChange reports whether a step changes a resource or its state.
func isChange(op stages.Op) bool {
	switch op {
	case stages.OpSame, stages.OpRead, stages.OpReadReplacement, stages.OpRefresh:
		return false
	}
	return true
}

// possiblyText describes why a change is only possible and what happens otherwise: "`id` of bucket (aws:s3:Bucket) is not known until
// it is replaced; otherwise it is updated". because is the first part of it, in words.
func possiblyText(p *stages.Possibility, because string) string {
	text := cleanLine(because)
	if p.Otherwise != stages.OpSame {
		text += "; otherwise it is " + wordsFor(p.Otherwise).done
	}
	return text
}

// possiblyOf formats how many of the counted changes are only possible: ", 2 of them possibly".
func possiblyOf(possible, all int) string {
	switch {
	case possible == 0:
		return ""
	case all == 1:
		return ", possibly"
	case possible == all:
		return ", all of them possibly"
	}
	return fmt.Sprintf(", %d of them possibly", possible)
}
