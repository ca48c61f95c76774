package builtin_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/builtin"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
	"github.com/stretchr/testify/require"
)

var (
	bucket  = urn.New("dev", "p", "", "aws:s3:Bucket", "b")
	outputs = object("url", property.String("u"), "password", property.Secret(property.String("s")),
		"deep", property.ArrayOf(property.Secret(property.String("s"))))
)

func object(pairs ...any) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1].(property.Value)
	}
	return property.NewMap(m)
}

func newProvider(warnings *int) providers.Provider {
	return builtin.New(builtin.Options{
		StackOutputs: func(_ context.Context, name string) (property.Map, error) {
			if name != "org/p/other" {
				return property.Map{}, fmt.Errorf("unknown stack %q", name)
			}
			return outputs, nil
		},
		StackResources: func(context.Context, string) ([]builtin.Resource, error) {
			return []builtin.Resource{{URN: bucket, Type: bucket.Type(), ID: "i", Outputs: outputs}}, nil
		},
		Resource: func(u urn.URN) (builtin.Resource, bool) {
			return builtin.Resource{URN: u, ID: "i", Provider: "ref", Outputs: outputs}, u == bucket
		},
		Warn:  func(urn.URN, string) { *warnings++ },
		NewID: func() string { return "new-id" },
	})
}

func same(t *testing.T, want, got property.Map) {
	t.Helper()
	require.True(t, property.IdenticalMaps(want, got), "want %v\ngot  %v", want, got)
}

func reference(name property.Value) property.Map {
	return object("name", name, "outputs", property.Of(outputs),
		"secretOutputNames", property.ArrayOf(property.String("deep"), property.String("password")))
}

func TestStackReferenceIsRead(t *testing.T) {
	p, ctx := newProvider(new(int)), t.Context()
	in := object("name", property.String("org/p/other"))
	got, err := p.Read(ctx, providers.ReadRequest{Type: builtin.StackReference, ID: "org/p/other", Inputs: in, State: in, Known: true})
	require.NoError(t, err)
	require.Equal(t, "org/p/other", got.ID)
	require.True(t, !got.Absent && got.HasInputs)
	same(t, in, got.Inputs)
	same(t, reference(property.String("org/p/other")), got.Properties)

	_, err = p.Read(ctx, providers.ReadRequest{Type: builtin.StackReference, ID: "x"})
	require.EqualError(t, err, "stack reference can not be imported")
	in = object("name", property.String("nowhere"))
	_, err = p.Read(ctx, providers.ReadRequest{Type: builtin.StackReference, ID: "x", State: in})
	require.EqualError(t, err, `unknown stack "nowhere"`)
}

func TestManagedStackReferenceWorksAndWarns(t *testing.T) {
	warnings := 0
	p, ctx := newProvider(&warnings), t.Context()
	in := object("name", property.String("org/p/other"))
	check, err := p.Check(ctx, providers.CheckRequest{Type: builtin.StackReference, News: in})
	require.NoError(t, err)
	require.Empty(t, check.Failures)
	require.Equal(t, 1, warnings)
	made, err := p.Create(ctx, providers.CreateRequest{Type: builtin.StackReference, Properties: in})
	require.NoError(t, err)
	require.Equal(t, "new-id", made.ID)
	same(t, reference(property.String("org/p/other")), made.Properties)

	unknown, err := p.Create(ctx, providers.CreateRequest{
		Type: builtin.StackReference, Properties: object("name", property.Computed()), Preview: true,
	})
	require.NoError(t, err)
	require.Empty(t, unknown.ID)
	require.True(t, unknown.Properties.At("outputs").IsUnknown())

	diff, err := p.Diff(ctx, providers.DiffRequest{
		Type: builtin.StackReference, OldInputs: in, NewInputs: object("name", property.String("x")),
	})
	require.NoError(t, err)
	require.True(t, diff.Replaces())
	require.NoError(t, p.Delete(ctx, providers.DeleteRequest{Type: builtin.StackReference}))
}

func TestInputsAreChecked(t *testing.T) {
	p := newProvider(new(int))
	cases := map[string]struct {
		typ    urn.Type
		news   property.Map
		reason string
	}{
		"missing name":   {builtin.StackReference, object(), `missing required property "name"`},
		"another key":    {builtin.StackReference, object("name", property.String("x"), "y", property.Null), `unknown property "y"`},
		"not a string":   {builtin.StackReference, object("name", property.Number(1)), `property "name" must be a string`},
		"stash":          {builtin.Stash, object("input", property.Null, "output", property.Null), `unknown property "output"`},
		"nothing to put": {builtin.Stash, object(), `missing required property "input"`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, err := p.Check(t.Context(), providers.CheckRequest{Type: c.typ, News: c.news})
			require.NoError(t, err)
			require.Len(t, answer.Failures, 1)
			require.Equal(t, c.reason, answer.Failures[0].Reason)
		})
	}
	_, err := p.Check(t.Context(), providers.CheckRequest{Type: "pulumi:index:Other"})
	require.Error(t, err)
}

func TestStashKeepsItsFirstInput(t *testing.T) {
	p, ctx := newProvider(new(int)), t.Context()
	in := object("input", property.Secret(property.String("1")))
	made, err := p.Create(ctx, providers.CreateRequest{Type: builtin.Stash, Properties: in})
	require.NoError(t, err)
	same(t, in.With("output", in.At("input")), made.Properties)

	now := object("input", property.String("2"))
	diff, err := p.Diff(ctx, providers.DiffRequest{Type: builtin.Stash, OldInputs: in, OldOutputs: made.Properties, NewInputs: now})
	require.NoError(t, err)
	require.Equal(t, providers.DiffSome, diff.Changes)
	require.False(t, diff.Replaces())
	diff, err = p.Diff(ctx, providers.DiffRequest{Type: builtin.Stash, OldInputs: in, OldOutputs: made.Properties, NewInputs: in})
	require.NoError(t, err)
	require.Equal(t, providers.DiffNone, diff.Changes)

	updated, err := p.Update(ctx, providers.UpdateRequest{Type: builtin.Stash, OldOutputs: made.Properties, NewInputs: now})
	require.NoError(t, err)
	same(t, now.With("output", in.At("input")), updated.Properties)
	read, err := p.Read(ctx, providers.ReadRequest{Type: builtin.Stash, ID: "i", Inputs: now, State: updated.Properties, Known: true})
	require.NoError(t, err)
	same(t, updated.Properties, read.Properties)
}

// An imported stash has no value until it gets an input, even if it was imported with an input.
func TestStashIsImportedWithoutAValue(t *testing.T) {
	p, ctx := newProvider(new(int)), t.Context()
	read, err := p.Read(ctx, providers.ReadRequest{Type: builtin.Stash, ID: "i"})
	require.NoError(t, err)
	require.False(t, read.Absent)
	require.True(t, read.HasInputs)
	require.Equal(t, "i", read.ID)
	for _, old := range []property.Map{read.Inputs, object("input", property.String("1"))} {
		in := object("input", property.String("1"))
		diff, err := p.Diff(ctx, providers.DiffRequest{Type: builtin.Stash, OldInputs: old, OldOutputs: read.Properties, NewInputs: in})
		require.NoError(t, err)
		require.Equal(t, providers.DiffSome, diff.Changes)
		updated, err := p.Update(ctx, providers.UpdateRequest{Type: builtin.Stash, OldOutputs: read.Properties, NewInputs: in})
		require.NoError(t, err)
		same(t, in.With("output", in.At("input")), updated.Properties)
	}
}

func TestFunctionsReadStacksAndResources(t *testing.T) {
	p, ctx := newProvider(new(int)), t.Context()
	name := property.String("org/p/other")
	result, err := p.Invoke(ctx, providers.InvokeRequest{Token: builtin.ReadStackOutputs, Args: object("name", name)})
	require.NoError(t, err)
	same(t, reference(name), result.Return)

	result, err = p.Invoke(ctx, providers.InvokeRequest{Token: builtin.ReadStackResourceOutputs, Args: object("stackName", name)})
	require.NoError(t, err)
	entry := property.Of(object("type", property.String("aws:s3:Bucket"), "outputs", property.Of(outputs)))
	same(t, object("name", name, "outputs", property.Of(object(string(bucket), entry))), result.Return)

	result, err = p.Invoke(ctx, providers.InvokeRequest{Token: builtin.GetResource, Args: object("urn", property.String(string(bucket)))})
	require.NoError(t, err)
	same(t, object("urn", property.String(string(bucket)), "id", property.String("i"), "provider", property.String("ref"),
		"state", property.Of(outputs)), result.Return)

	other := urn.New("dev", "p", "", "a:b:C", "c")
	_, err = p.Invoke(ctx, providers.InvokeRequest{Token: builtin.GetResource, Args: object("urn", property.String(string(other)))})
	require.EqualError(t, err, "unknown resource "+string(other))
	_, err = p.Invoke(ctx, providers.InvokeRequest{Token: "pulumi:pulumi:nothing"})
	require.Error(t, err)
}

func TestHostServesOnlyItsPackage(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	host := builtin.Host(builtin.Options{}, cloud.Host())
	p, err := host.Load(t.Context(), providers.Spec{Package: "pulumi", Version: "9.9.9"})
	require.NoError(t, err)
	require.Equal(t, "pulumi", p.Package())
	_, err = host.Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	require.Len(t, cloud.Loads(), 1)
	_, err = p.Invoke(t.Context(), providers.InvokeRequest{Token: builtin.ReadStackOutputs, Args: object("name", property.String("x"))})
	require.ErrorContains(t, err, "no backend")
}
