package display

import (
	"fmt"

	"github.com/sluice-iac/sluice/stages"
)

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
