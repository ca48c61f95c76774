package property

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainJSONHasNoSpecialObjects(t *testing.T) {
	var decoded any
	require.NoError(t, json.Unmarshal([]byte(`{"4dabf18193072939515e22adb298388d": "x", "list": [true, 1.5, null, {}]}`), &decoded))
	require.Equal(t, Of(NewMap(map[string]Value{
		"4dabf18193072939515e22adb298388d": String("x"),
		"list":                             ArrayOf(Bool(true), Number(1.5), Null, Of(NewMap(map[string]Value{}))),
	})), Plain(decoded))
	require.True(t, Plain(struct{}{}).IsNull())
}
