package possible

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
)

// Programs do not report which output an input is: it is the one whose recorded value is in the recorded input.
func TestTheOutputOfAnUnknownInputIsFoundByItsRecordedValue(t *testing.T) {
	object := func(m map[string]property.Value) property.Map { return property.NewMap(m) }
	text, unknown := property.String, property.Computed()
	old := &state.Resource{ID: "vpc-12", Outputs: object(map[string]property.Value{
		"arn": text("arn:aws:vpc-12"), "short": text("ab"), "kept": text("vpc-kept"), "same": text("twin"), "same2": text("twin"),
		"secret": property.Secret(text("hunter2")),
		"nested": property.Of(object(map[string]property.Value{"list": property.ArrayOf(text("zero"), text("first"))})),
	})}
	made := &state.Resource{Outputs: object(map[string]property.Value{
		"arn": unknown, "short": unknown, "kept": text("vpc-kept"), "same": unknown, "same2": unknown, "secret": property.Secret(unknown),
		"nested": property.Of(object(map[string]property.Value{"list": unknown})),
	})}
	for name, c := range map[string]struct {
		text string
		op   stages.Op
		want string
	}{
		"the ID":                           {"vpc-12", stages.OpReplace, "id"},
		"the ID of what is updated":        {"vpc-12", stages.OpUpdate, ""},
		"an output":                        {"arn:aws:vpc-12", stages.OpUpdate, "arn"},
		"the whole before a part":          {"arn:aws:vpc-12", stages.OpReplace, "arn"},
		"the longest part":                 {"at arn:aws:vpc-12/x", stages.OpReplace, "arn"},
		"part of a text":                   {"in vpc-12", stages.OpReplace, "id"},
		"what is too short":                {"cab", stages.OpReplace, ""},
		"what is known":                    {"vpc-kept", stages.OpReplace, ""},
		"the first of two":                 {"twin", stages.OpReplace, "same"},
		"a secret, of which only the name": {"hunter2", stages.OpReplace, "secret"},
		"something nested":                 {"first", stages.OpReplace, "nested.list[1]"},
		"nothing of it":                    {"else", stages.OpReplace, ""},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, outputIn(c.text, old, made, c.op).output)
			require.Empty(t, outputIn(c.text, nil, made, c.op).output, "nothing is recorded of it")
		})
	}
}
