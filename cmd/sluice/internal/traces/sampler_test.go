package traces

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func TestTheSamplerIsThatOfTheEnvironment(t *testing.T) {
	parent := func(root sdktrace.Sampler) string { return sdktrace.ParentBased(root).Description() }
	for name, want := range map[string]string{
		"": parent(sdktrace.AlwaysSample()), "nonsense": parent(sdktrace.AlwaysSample()),
		"always_on": "AlwaysOnSampler", " Always_Off ": "AlwaysOffSampler", "traceidratio": "TraceIDRatioBased{0.25}",
		"parentbased_always_off": parent(sdktrace.NeverSample()), "parentbased_traceidratio": parent(sdktrace.TraceIDRatioBased(0.25)),
	} {
		o := Options{Lookup: func(variable string) (string, bool) {
			return map[string]string{"OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": "0.25"}[variable], true
		}}
		require.Equal(t, want, o.sampler(destination{scheme: toGRPC}).Description(), name)
		require.Equal(t, parent(sdktrace.NeverSample()), o.sampler(destination{}).Description(), "nothing is sent without a destination")
	}
}

func TestWhatIsNotSentIsRecordedNevertheless(t *testing.T) {
	for sent, want := range map[sdktrace.Sampler]sdktrace.SamplingDecision{
		sdktrace.NeverSample(): sdktrace.RecordOnly, sdktrace.AlwaysSample(): sdktrace.RecordAndSample,
	} {
		require.Equal(t, want, recorded{sent}.ShouldSample(sdktrace.SamplingParameters{ParentContext: t.Context(), TraceID: trace.TraceID{1}}).Decision)
	}
}
