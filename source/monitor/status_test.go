package monitor_test

import (
	"context"
	"errors"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
)

// viewsFunc receives the published views.
type viewsFunc func(token string, steps []providers.ViewStep) error

func (f viewsFunc) PublishViews(_ context.Context, token string, steps []providers.ViewStep) error {
	return f(token, steps)
}

func statusClient(t *testing.T, f viewsFunc) pulumirpc.ResourceStatusClient {
	s := serve(t, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}, Views: f})
	return pulumirpc.NewResourceStatusClient(dial(t, address(t, s)))
}

func structOf(t *testing.T, m map[string]any) *structpb.Struct {
	t.Helper()
	s, err := structpb.NewStruct(m)
	require.NoError(t, err)
	return s
}

func TestViewStepsAreReadFromTheWire(t *testing.T) {
	var token string
	var got []providers.ViewStep
	c := statusClient(t, func(to string, steps []providers.ViewStep) error { token, got = to, steps; return nil })
	_, err := c.PublishViewSteps(t.Context(), &pulumirpc.PublishViewStepsRequest{Token: "t", Steps: []*pulumirpc.ViewStep{{
		Status: pulumirpc.ViewStep_PARTIAL_FAILURE, Error: "it broke", Op: pulumirpc.ViewStep_CREATE_REPLACEMENT, Type: "p:m:V", Name: "v",
		Old: &pulumirpc.ViewStepState{
			Type: "p:m:Old", Name: "old", ParentType: "p:m:Parent", ParentName: "parent", Inputs: structOf(t, map[string]any{"a": "b"}),
		},
		New: &pulumirpc.ViewStepState{Outputs: structOf(t, map[string]any{
			"secret": map[string]any{"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "value": "s"},
		})},
		Keys: []string{"k"}, Diffs: []string{"d"}, HasDetailedDiff: true,
		DetailedDiff: map[string]*pulumirpc.PropertyDiff{
			"a":    {Kind: pulumirpc.PropertyDiff_ADD_REPLACE, InputDiff: true},
			"what": {Kind: 77},
		},
	}, {Op: pulumirpc.ViewStep_SAME}}})
	require.NoError(t, err)
	require.Equal(t, "t", token)
	require.Equal(t, []providers.ViewStep{{
		Op: providers.ViewCreateReplacement, Error: "it broke", Status: providers.ViewPartialFailure,
		Old: &providers.View{
			Type: "p:m:Old", Name: "old", ParentType: "p:m:Parent", ParentName: "parent",
			Inputs: property.NewMap(map[string]property.Value{"a": property.String("b")}),
		},
		New: &providers.View{
			Type: "p:m:V", Name: "v",
			Outputs: property.NewMap(map[string]property.Value{"secret": property.Secret(property.String("s"))}),
		},
		Keys: []string{"k"}, Diffs: []string{"d"},
		DetailedDiff: map[string]providers.PropertyDiff{
			"a": {Kind: providers.DiffAddReplace, InputDiff: true}, "what": {Kind: providers.DiffUpdate},
		},
	}, {Op: providers.ViewSame}}, got)
}

func TestRefusalsOfViewStepsReachTheProvider(t *testing.T) {
	c := statusClient(t, func(string, []providers.ViewStep) error { return errors.New("token t not found") })
	_, err := c.PublishViewSteps(t.Context(), &pulumirpc.PublishViewStepsRequest{Token: "t"})
	require.Equal(t, codes.Unknown, status.Code(err))
	require.Equal(t, "token t not found", status.Convert(err).Message())
}

func TestWithoutViewsThereIsNoSuchService(t *testing.T) {
	s := serve(t, source.ServedMonitor{Monitor: &monitortest.Monitor{Run: run()}})
	_, err := pulumirpc.NewResourceStatusClient(dial(t, address(t, s))).PublishViewSteps(t.Context(), &pulumirpc.PublishViewStepsRequest{})
	require.Equal(t, codes.Unimplemented, status.Code(err))
}
