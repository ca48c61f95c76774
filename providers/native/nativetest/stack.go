package nativetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/urn"
)

// Stack holds one resource and its recorded state.
type Stack struct {
	t       *testing.T
	Type    urn.Type
	P       providers.Provider
	ID      string
	Inputs  property.Map
	Outputs property.Map
}

// New returns a stack without its resource, with a provider that is closed at the end of the test.
func New(t *testing.T, p native.Package, typ urn.Type, o native.Options) *Stack {
	s := &Stack{t: t, Type: typ, P: native.New(p, o)}
	t.Cleanup(func() { require.NoError(t, s.P.Close()) })
	return s
}

// URN returns the URN of the resource.
func (s *Stack) URN() urn.URN { return urn.New("dev", "p", "", s.Type, "r") }

// Check returns the checked inputs and requires that the provider accepts them.
func (s *Stack) Check(inputs property.Map) property.Map {
	s.t.Helper()
	answer, err := s.P.Check(s.t.Context(), providers.CheckRequest{URN: s.URN(), Name: "r", Type: s.Type, Olds: s.Inputs, News: inputs})
	require.NoError(s.t, err)
	require.Empty(s.t, answer.Failures)
	return answer.Inputs
}

// Refused returns the provider's reasons to refuse inputs.
func (s *Stack) Refused(inputs property.Map) []providers.CheckFailure {
	s.t.Helper()
	answer, err := s.P.Check(s.t.Context(), providers.CheckRequest{URN: s.URN(), Name: "r", Type: s.Type, News: inputs})
	require.NoError(s.t, err)
	require.NotEmpty(s.t, answer.Failures)
	return answer.Failures
}

// Create makes the resource and returns its outputs.
func (s *Stack) Create(inputs property.Map) property.Map {
	s.t.Helper()
	require.NoError(s.t, s.TryCreate(inputs))
	require.NotEmpty(s.t, s.ID)
	return s.Outputs
}

// TryCreate makes the resource and returns the error of the provider.
func (s *Stack) TryCreate(inputs property.Map) error {
	s.t.Helper()
	inputs = s.Check(inputs)
	made, err := s.P.Create(s.t.Context(), providers.CreateRequest{URN: s.URN(), Name: "r", Type: s.Type, Properties: inputs})
	if err == nil {
		s.ID, s.Inputs, s.Outputs = made.ID, inputs, made.Properties
	}
	return err
}

// Preview returns the outputs that a preview of the create shows.
func (s *Stack) Preview(inputs property.Map) property.Map {
	s.t.Helper()
	made, err := s.P.Create(s.t.Context(), providers.CreateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, Properties: s.Check(inputs), Preview: true,
	})
	require.NoError(s.t, err)
	require.Empty(s.t, made.ID)
	return made.Properties
}

// Diff compares the recorded state with new inputs.
func (s *Stack) Diff(inputs property.Map) providers.DiffResponse {
	s.t.Helper()
	answer, err := s.P.Diff(s.t.Context(), providers.DiffRequest{
		URN: s.URN(), Name: "r", Type: s.Type, ID: s.ID, OldInputs: s.Inputs, OldOutputs: s.Outputs, NewInputs: s.Check(inputs),
	})
	require.NoError(s.t, err)
	return answer
}

// RequireSame requires that new inputs change nothing.
func (s *Stack) RequireSame(inputs property.Map) {
	s.t.Helper()
	answer := s.Diff(inputs)
	require.Equal(s.t, providers.DiffNone, answer.Changes, "%v", answer)
	require.Empty(s.t, answer.ReplaceKeys)
	require.Empty(s.t, answer.DetailedDiff)
}

// RequireReplace requires that new inputs require a replacement because of exactly these properties.
func (s *Stack) RequireReplace(inputs property.Map, keys ...string) {
	s.t.Helper()
	answer := s.Diff(inputs)
	require.Equal(s.t, providers.DiffSome, answer.Changes)
	require.ElementsMatch(s.t, keys, answer.ReplaceKeys)
	require.True(s.t, answer.Replaces())
}

// Update changes the resource, after requiring that it can be done in place.
func (s *Stack) Update(inputs property.Map) property.Map {
	s.t.Helper()
	require.NoError(s.t, s.TryUpdate(inputs, false))
	return s.Outputs
}

// PreviewUpdate returns the outputs that a preview of the update shows.
func (s *Stack) PreviewUpdate(inputs property.Map) property.Map {
	s.t.Helper()
	before, outputs := s.Inputs, s.Outputs
	require.NoError(s.t, s.TryUpdate(inputs, true))
	after := s.Outputs
	s.Inputs, s.Outputs = before, outputs
	return after
}

// TryUpdate changes the resource and returns the error of the provider.
func (s *Stack) TryUpdate(inputs property.Map, preview bool) error {
	s.t.Helper()
	answer := s.Diff(inputs)
	require.Equal(s.t, providers.DiffSome, answer.Changes)
	require.False(s.t, answer.Replaces(), "%v", answer)
	inputs = s.Check(inputs)
	got, err := s.P.Update(s.t.Context(), providers.UpdateRequest{
		URN: s.URN(), Name: "r", Type: s.Type, ID: s.ID, OldInputs: s.Inputs, OldOutputs: s.Outputs, NewInputs: inputs, Preview: preview,
	})
	if err == nil {
		s.Inputs, s.Outputs = inputs, got.Properties
	}
	return err
}

// Refresh reads the resource and records the result. It reports whether the resource exists.
func (s *Stack) Refresh() bool {
	s.t.Helper()
	found, err := s.P.Read(s.t.Context(), providers.ReadRequest{
		URN: s.URN(), Name: "r", Type: s.Type, ID: s.ID, Inputs: s.Inputs, State: s.Outputs, Known: true,
	})
	require.NoError(s.t, err)
	if !found.Absent {
		s.ID, s.Inputs, s.Outputs = found.ID, found.Inputs, found.Properties
	}
	return !found.Absent
}

// RequireUnchanged refreshes and requires that nothing has changed.
func (s *Stack) RequireUnchanged() {
	s.t.Helper()
	inputs, outputs := s.Inputs, s.Outputs
	require.True(s.t, s.Refresh())
	require.True(s.t, property.IdenticalMaps(inputs, s.Inputs), "%v\n%v", inputs, s.Inputs)
	require.True(s.t, property.IdenticalMaps(outputs, s.Outputs), "%v\n%v", outputs, s.Outputs)
}

// Import records the resource with this ID.
func (s *Stack) Import(id string) property.Map {
	s.t.Helper()
	require.NoError(s.t, s.TryImport(id))
	return s.Outputs
}

// TryImport records the resource with this ID and returns the error of the provider.
func (s *Stack) TryImport(id string) error {
	found, err := s.P.Read(s.t.Context(), providers.ReadRequest{URN: s.URN(), Name: "r", Type: s.Type, ID: id})
	if err == nil {
		require.False(s.t, found.Absent)
		s.ID, s.Inputs, s.Outputs = found.ID, found.Inputs, found.Properties
	}
	return err
}

// Delete deletes the resource.
func (s *Stack) Delete() error {
	return s.P.Delete(s.t.Context(), providers.DeleteRequest{
		URN: s.URN(), Name: "r", Type: s.Type, ID: s.ID, Inputs: s.Inputs, Outputs: s.Outputs,
	})
}

// Invoke calls a function of the package.
func (s *Stack) Invoke(token string, args property.Map) (property.Map, error) {
	answer, err := s.P.Invoke(s.t.Context(), providers.InvokeRequest{Token: token, Args: args})
	require.Empty(s.t, answer.Failures)
	return answer.Return, err
}

// Props makes properties of Go values: strings, numbers, booleans, lists, maps and values.
func Props(pairs ...any) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = Value(pairs[i+1])
	}
	return property.NewMap(m)
}

// Value makes a property of a Go value.
func Value(v any) property.Value {
	switch v := v.(type) {
	case property.Value:
		return v
	case property.Map:
		return property.Of(v)
	case string:
		return property.String(v)
	case int:
		return property.Number(float64(v))
	case float64:
		return property.Number(v)
	case bool:
		return property.Bool(v)
	case []string:
		return native.Texts(v)
	case []any:
		var out []property.Value
		for _, e := range v {
			out = append(out, Value(e))
		}
		return property.ArrayOf(out...)
	case map[string]string:
		out := map[string]property.Value{}
		for k, e := range v {
			out[k] = property.String(e)
		}
		return property.Of(property.NewMap(out))
	}
	panic("no property for this Go value")
}
