package seal_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/sluice-iac/sluice/fleet/seal"
)

type (
	question struct{ Stack string }
	answer   struct{ Stack string }
)

// Data sealed for one workflow, activity and type can be opened only there.
func TestWhatIsSealedIsOpenedWhereItBelongs(t *testing.T) {
	data, failures, err := seal.Converters(seal.NewKey())
	require.NoError(t, err)
	in := func(where converter.SerializationContext) converter.DataConverter {
		return converter.WithDataConverterSerializationContext(data, where)
	}
	home := converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "shop/destroy/1"}
	p, err := in(home).ToPayload(question{"web"})
	require.NoError(t, err)
	var q question
	require.NoError(t, in(home).FromPayload(p, &q))
	require.Equal(t, "web", q.Stack)
	// The ID of a workflow that a schedule begins contains the time.
	require.NoError(t, in(converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "shop/destroy/1-2026-03-14T03:00:00Z"}).FromPayload(p, &q))

	for name, where := range map[string]converter.SerializationContext{
		"another run":       converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "shop/destroy/2"},
		"a stack of it":     converter.WorkflowSerializationContext{Namespace: "n", WorkflowID: "shop/destroy/1/web"},
		"another namespace": converter.WorkflowSerializationContext{Namespace: "m", WorkflowID: "shop/destroy/1"},
		"an activity of it": converter.ActivitySerializationContext{Namespace: "n", WorkflowID: "shop/destroy/1", ActivityType: "perform"},
		"an activity alone": converter.ActivitySerializationContext{Namespace: "n", ActivityType: "perform"},
	} {
		require.ErrorContains(t, in(where).FromPayload(p, &q), "sealed for something else", name)
	}
	require.ErrorContains(t, data.FromPayload(p, &q), "sealed for something else", "nowhere")
	require.ErrorContains(t, in(home).FromPayload(p, &answer{}), "sealed for something else", "another type")
	p.Metadata[converter.MetadataEncoding] = []byte("binary/sluice-sealed")
	require.ErrorContains(t, in(home).FromPayload(p, &q), "by an earlier version")

	// Values in lists, and failures.
	list, err := in(home).ToPayloads(question{"a"}, answer{"b"})
	require.NoError(t, err)
	var a answer
	require.NoError(t, in(home).FromPayloads(list, &q, &a))
	require.Equal(t, answer{"b"}, a)
	require.Error(t, in(home).FromPayloads(&commonpb.Payloads{Payloads: []*commonpb.Payload{list.Payloads[1], list.Payloads[0]}}, &q, &a))
	f := converter.WithFailureConverterSerializationContext(failures, home)
	require.EqualError(t, f.FailureToError(f.ErrorToFailure(errors.New("it is broken"))), "it is broken")
}
