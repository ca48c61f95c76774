package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	generate "github.com/invopop/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/display"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/reports"
	"github.com/sluice-iac/sluice/docs/schemas"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

var updateSchemas = flag.Bool("update-schemas", false, "write the schemas of documents")

// schemaTypes are the Go types of documents, with the versions of their formats.
var schemaTypes = map[string]struct {
	title   string
	version string
	form    any
}{
	"plan":   {"Plan", "1", state.PlanRecord{}},
	"events": {"Line of an event log", "1", display.EventLine{}},
	"report": {"Report", "1", reports.Document{}},
	"why":    {"Explanation", "1", explanationJSON{}},
}

func TestSchemasAreThoseOfTheGoTypes(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, reports.Version)
	for name, d := range schemaTypes {
		t.Run(name, func(t *testing.T) {
			r := &generate.Reflector{AllowAdditionalProperties: true, Mapper: mapTypes, Namer: nameOf}
			for _, folder := range []string{
				"cmd/sluice/internal/display", "cmd/sluice/internal/reports", "cmd/sluice", "stages", "stages/why", "state",
			} {
				require.NoError(t, r.AddGoComments("github.com/sluice-iac/sluice/"+folder, filepath.Join("../..", folder)))
			}
			s := r.Reflect(d.form)
			s.ID, s.Title = generate.ID("urn:sluice:schema:"+name+":"+d.version), d.title
			if line := s.Definitions["EventEnvelope"]; line != nil {
				least := uint64(3) // the number, the time and the event
				line.MinProperties = &least
			}
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetIndent("", "  ")
			enc.SetEscapeHTML(false)
			require.NoError(t, enc.Encode(s))
			path := filepath.Join("../../docs/schemas", name+".json")
			if *updateSchemas {
				require.NoError(t, os.WriteFile(path, b.Bytes(), 0o666))
			}
			is, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, b.String(), string(is), "run go test ./cmd/sluice -run %s -update-schemas", "TestSchemasAreThoseOfTheGoTypes")
		})
	}
}

// mapTypes returns the schemas of types that marshal themselves.
func mapTypes(t reflect.Type) *generate.Schema {
	switch t {
	case reflect.TypeFor[urn.Alias](), reflect.TypeFor[state.Timeouts]():
		return &generate.Schema{Type: "object"}
	case reflect.TypeFor[map[string][]urn.URN]():
		list := &generate.Schema{Type: "array", Items: &generate.Schema{Type: "string"}}
		return &generate.Schema{Type: "object", AdditionalProperties: &generate.Schema{OneOf: []*generate.Schema{list, {Type: "null"}}}}
	case reflect.TypeFor[[]byte]():
		return &generate.Schema{Type: "string", ContentEncoding: "base64"}
	}
	return nil
}

// nameOf names a type without the package, as all are in one namespace.
func nameOf(t reflect.Type) string {
	name := t.Name()
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// compiled compiles a schema as printed by `sluice schema`. The test binary is sluice, too, in scripts: a library that prepares much before main would
// cost each of their commands.
func compiled(name string) (*jsonschema.Resolved, error) {
	text, found := schemas.Text(name)
	if !found {
		return nil, fmt.Errorf("there is no schema %q", name)
	}
	s := &jsonschema.Schema{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// valid is a command of scripts: it requires that each of the files matches the schema. A file of events has one on
// each line.
func valid(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: valid SCHEMA FILE...")
	}
	s, err := compiled(args[0])
	ts.Check(err)
	for _, path := range args[1:] {
		documents := []string{ts.ReadFile(path)}
		if args[0] == "events" {
			documents = strings.Split(strings.TrimSuffix(documents[0], "\n"), "\n")
		}
		for _, text := range documents {
			var value any
			err := json.Unmarshal([]byte(text), &value)
			if err == nil {
				err = s.Validate(value)
			}
			if (err != nil) != neg {
				ts.Fatalf("%s: %v", path, err)
			}
		}
	}
}

func TestExamplesAreValidPrograms(t *testing.T) {
	s, err := compiled("program")
	require.NoError(t, err)
	found, err := filepath.Glob("../../examples/*/Pulumi.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, path := range found {
		require.NoError(t, validYAML(t, s, path), path)
	}
	for _, text := range []string{
		"resources: {a: {properties: {}}}", "resources: {a: {type: 'x:Y', option: {}}}", "outputs: {a: {fn::join: [a]}}", "resources: [a]",
	} {
		path := filepath.Join(t.TempDir(), "Pulumi.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.Error(t, validYAML(t, s, path), text)
	}
}

func validYAML(t *testing.T, s *jsonschema.Resolved, path string) error {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var value any
	require.NoError(t, yaml.Unmarshal(text, &value))
	return s.Validate(value)
}
