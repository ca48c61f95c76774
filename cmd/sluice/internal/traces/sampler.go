package traces

import (
	"strconv"
	"strings"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// recorded makes the spans that a sampler drops visible to processors in this process. They are not sent.
type recorded struct{ sent sdktrace.Sampler }

// ShouldSample implements [sdktrace.Sampler].
func (r recorded) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	result := r.sent.ShouldSample(p)
	if result.Decision == sdktrace.Drop {
		result.Decision = sdktrace.RecordOnly
	}
	return result
}

// Description implements [sdktrace.Sampler].
func (r recorded) Description() string { return "Recorded(" + r.sent.Description() + ")" }

// sampler returns the sampler that OTEL_TRACES_SAMPLER names, as the SDK parses it. The SDK has no other way to wrap it. Without a
// destination nothing is sent: the decision of the caller's trace is passed on, so that plugins that send spans of their own still do.
func (o Options) sampler(to destination) sdktrace.Sampler {
	if to.scheme == "" {
		return sdktrace.ParentBased(sdktrace.NeverSample())
	}
	name, ofParent := strings.CutPrefix(strings.ToLower(strings.TrimSpace(o.env("OTEL_TRACES_SAMPLER"))), "parentbased_")
	var root sdktrace.Sampler
	switch name {
	case "always_on":
		root = sdktrace.AlwaysSample()
	case "always_off":
		root = sdktrace.NeverSample()
	case "traceidratio":
		ratio, err := strconv.ParseFloat(strings.TrimSpace(o.env("OTEL_TRACES_SAMPLER_ARG")), 64)
		if err != nil || ratio < 0 || ratio > 1 {
			ratio = 1
		}
		root = sdktrace.TraceIDRatioBased(ratio)
	default:
		return sdktrace.ParentBased(sdktrace.AlwaysSample())
	}
	if ofParent {
		return sdktrace.ParentBased(root)
	}
	return root
}
