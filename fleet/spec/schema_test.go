package spec_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/fleet/spec"
)

var update = flag.Bool("update", false, "write the schema")

func TestTheSchemaIsThatOfTheGoTypes(t *testing.T) {
	r := &jsonschema.Reflector{}
	require.NoError(t, r.AddGoComments("github.com/sluice-iac/sluice/fleet/spec", "."))
	s := r.Reflect(spec.Document{})
	object := s.Definitions["LimitEntry"]
	s.Definitions["LimitEntry"] = &jsonschema.Schema{Description: object.Description, OneOf: []*jsonschema.Schema{{Type: "integer", Minimum: "1"}, object}}
	object.Description = ""
	s.ID, s.Title = "urn:sluice:schema:fleet:1", "Fleet"
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(s))
	if *update {
		require.NoError(t, os.WriteFile("fleet.schema.json", b.Bytes(), 0o666))
		return
	}
	require.Equal(t, b.String(), string(spec.Schema()), "run go test ./spec -run TestTheSchema -update")
}
