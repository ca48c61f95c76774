package rules

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/stages"
)

// refusal is an error that contains secrets.
type refusal struct{ text string }

func (r *refusal) Error() string { return "refused: " + r.text }

// Inputs, outputs marked by the provider and outputs marked by the program are masked in the error of the operation and in its
// events, and the error keeps its type.
func TestErrorsAndEventsHaveNoSecrets(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			if r.Name == "b" {
				return providers.CreateResponse{}, &refusal{"open sesame, marked 12345678, token-of-a, " + base64.StdEncoding.EncodeToString([]byte("x:open sesame"))}
			}
			answer, err := f.Base.Create(ctx, r)
			answer.Properties = answer.Properties.With("made", property.Secret(property.String("marked 12345678"))).With("token", property.String("token-of-a"))
			return answer, err
		}
	}
	r := k.fails(program(func(s *script) {
		s.thing("a", in{"p": "plain"}, secretOutputs("token"))
		s.thing("b", in{"p": secret("open sesame")})
	}), "refused: [secret], [secret], [secret], ")
	var found *refusal
	require.ErrorAs(t, r.err, &found)
	for _, text := range append([]string{r.err.Error()}, textsOf(r.events)...) {
		for _, secret := range []string{"sesame", "12345678", "token-of-a", "b3BlbiBzZXNhb"} {
			require.NotContains(t, text, secret)
		}
	}
}

// States keep the reasons unchanged.
func TestReasonsOfUnhealthyResourcesAreRecordedWithoutSecrets(t *testing.T) {
	k := newKit(t)
	k.fake = func(f *providertest.Fake) {
		f.OnCreate = func(ctx context.Context, r providers.CreateRequest) (providers.CreateResponse, error) {
			answer, err := f.Base.Create(ctx, r)
			if err != nil {
				return answer, err
			}
			return answer, &providers.InitError{
				ID: answer.ID, Properties: answer.Properties, Inputs: r.Properties, HasInputs: true, Reasons: []string{"no login with open sesame"},
			}
		}
	}
	r := k.fails(program(one(in{"p": secret("open sesame")})), "no login with [secret]")
	require.Equal(t, []string{"no login with [secret]"}, k.recorded("a").InitErrors)
	for _, text := range textsOf(r.events) {
		require.NotContains(t, text, "sesame")
	}
}

// textsOf returns the texts in events.
func textsOf(events []stages.Event) []string {
	var texts []string
	for _, e := range events {
		switch e := e.(type) {
		case stages.Diagnostic:
			texts = append(texts, e.Message)
		case stages.StepFailed:
			texts = append(texts, fmt.Sprint(e.Err), fmt.Sprint(e.Step.New.InitErrors))
		}
	}
	return texts
}
