package display

import (
	"fmt"

	"github.com/sluice-iac/sluice/stages"
)

// possibly is the word before what is only possible, "" before what is certain.
func possibly(s stages.StepInfo) string {
	if s.IsPossible() {
		return "possibly "
	}
	return ""
}

// isCertain reports whether a step of a preview is of a change that will happen, whatever the values are that nobody knows yet.
func isCertain(s stages.StepInfo) bool { return !s.IsPossible() && isChange(s.Op) }

// isChange reports whether an operation changes something, or the record of it.
func isChange(op stages.Op) bool {
	switch op {
	case stages.OpSame, stages.OpRead, stages.OpReadReplacement, stages.OpRefresh:
		return false
	}
	return true
}

// possiblyText says why a change is only possible and what is done otherwise: "`id` of bucket (aws:s3:Bucket) is not known until it is
// replaced; otherwise it is updated". because is the first part of it, in words.
func possiblyText(p *stages.Possibility, because string) string {
	text := cleanLine(because)
	if p.Otherwise != stages.OpSame {
		text += "; otherwise it is " + wordsFor(p.Otherwise).done
	}
	return text
}

// possiblyOf says how many of the counted changes are only possible: ", 2 of them possibly".
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
