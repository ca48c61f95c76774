package display

import "github.com/sluice-iac/sluice"

// words are how a kind of step is spoken of (protocol.md 10.5).
type words struct {
	mark    string
	colour  colour
	plan    string // what a preview says
	running string
	done    string
	// planned and changed are the words of the summary, "" for kinds that are not counted.
	planned, changed string
}

var vocabulary = map[sluice.Op]words{
	sluice.OpSame:                 {"  ", plain, "", "", "", "unchanged", "unchanged"},
	sluice.OpCreate:               {"+ ", green, "create", "creating", "created", "to create", "created"},
	sluice.OpUpdate:               {"~ ", yellow, "update", "updating", "updated", "to update", "updated"},
	sluice.OpDelete:               {"- ", red, "delete", "deleting", "deleted", "to delete", "deleted"},
	sluice.OpReplace:              {"+-", magenta, "replace", "replacing", "replaced", "to replace", "replaced"},
	sluice.OpCreateReplacement:    {"++", green, "create replacement", "creating replacement", "created replacement", "", ""},
	sluice.OpDeleteReplaced:       {"--", red, "delete original", "deleting original", "deleted original", "", ""},
	sluice.OpRead:                 {"> ", cyan, "read", "reading", "read", "", ""},
	sluice.OpReadReplacement:      {">>", magenta, "read for replacement", "reading for replacement", "read for replacement", "", ""},
	sluice.OpRefresh:              {"~ ", yellow, "refresh", "refreshing", "refreshed", "", ""},
	sluice.OpDiscard:              {"< ", red, "discard", "discarding", "discarded", "to discard", "discarded"},
	sluice.OpDiscardReplaced:      {"<<", red, "discard original", "discarding original", "discarded original", "", ""},
	sluice.OpRemovePendingReplace: {"~ ", plain, "complete replacement", "completing replacement", "completed replacement", "", ""},
	sluice.OpImport:               {"= ", green, "import", "importing", "imported", "to import", "imported"},
	sluice.OpImportReplacement:    {"=>", magenta, "import replacement", "importing replacement", "imported replacement", "", ""},
}

// summaryOrder is the order of the summary's lines.
var summaryOrder = [...]sluice.Op{
	sluice.OpCreate, sluice.OpUpdate, sluice.OpDelete, sluice.OpReplace, sluice.OpDiscard, sluice.OpImport,
}

func wordsFor(op sluice.Op) words {
	if w, ok := vocabulary[op]; ok {
		return w
	}
	text := string(op)
	return words{"  ", plain, text, text, text, text, text}
}

// isReplacementPart tells whether op is a part of a replacement that people see only as one.
func isReplacementPart(op sluice.Op) bool {
	switch op {
	case sluice.OpCreateReplacement, sluice.OpDeleteReplaced, sluice.OpReadReplacement, sluice.OpDiscardReplaced,
		sluice.OpRemovePendingReplace, sluice.OpImportReplacement:
		return true
	}
	return false
}
