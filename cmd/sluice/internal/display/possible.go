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
