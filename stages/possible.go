package stages

import (
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// Possibility is why a predicted change is only possible: it depends on values that the preview does not know, and none of the
// known values requires it. The update knows the values, and may leave the resource as it is. A Possibility is immutable.
type Possibility struct {
	// Unknowns are the values that the change depends on, in the order of their properties, at most [MaxUnknowns]. They are empty
	// if it depends on the change of the resource [Reason.Cause], which is only possible itself.
	Unknowns []Unknown `json:"unknowns,omitempty"`
	// Otherwise is what is done if the change is not made: nothing ([OpSame]), or an update ([OpUpdate]) instead of a possible
	// replacement.
	Otherwise Op `json:"otherwise"`
}

// Unknown is a value that a preview does not know.
type Unknown struct {
	// Property is the property that gets the value: the path of an input, or the name of an option.
	Property string `json:"property"`
	// Of is the resource that the value comes from, "" if the program does not give it. Output is the path of its output, or "id";
	// "" if the output is not known.
	Of     urn.URN `json:"of,omitempty"`
	Output string  `json:"output,omitempty"`
	// Op is the operation on Of after which the value is known; "" for none.
	Op Op `json:"op,omitempty"`
}

// MaxUnknowns is the largest number of values in a [Possibility].
const MaxUnknowns = 16

// IsPossible reports whether the step is one of a change that is only possible.
func (s StepInfo) IsPossible() bool { return s.Reason.Possible != nil }

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

// String returns the condition under which the value becomes known.
func (u Unknown) String() string {
	until := "yet"
	if done, ok := madeBy[u.Op]; ok {
		until = "until it is " + done
	}
	switch {
	case u.Of == "":
		return "`" + u.Property + "` is not known yet"
	case u.Output == "":
		return "`" + u.Property + "` comes from " + nameAndType(u.Of) + " and is not known " + strings.Replace(until, " it ", " that ", 1)
	}
	return "`" + u.Output + "` of " + nameAndType(u.Of) + " is not known " + until
}

// madeBy has the words for the operations that make the outputs of a resource known.
var madeBy = map[Op]string{OpCreate: "created", OpReplace: "replaced", OpUpdate: "updated", OpRead: "read"}

func nameAndType(u urn.URN) string { return fmt.Sprintf("%s (%s)", u.Name(), u.Type()) }
