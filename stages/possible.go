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
