package providers

import (
	"fmt"

	"github.com/sluice-iac/sluice/urn"
)

// unconfiguredAnswers answers on behalf of a provider that is not configured because its configuration is unknown in a preview
// (protocol.md 3.2).
type unconfiguredAnswers struct {
	// echoInputs makes Create and Update return their inputs instead of nothing (PULUMI_LEGACY_PROVIDER_PREVIEW).
	echoInputs bool
}

const unknownConfigurationReason = "the configuration of this resource's provider is not known during the preview, " +
	"so the provider could not be asked; the update may do something else than is shown here"

func (c *unconfiguredAnswers) check(req CheckRequest) (CheckResponse, error) {
	return CheckResponse{Inputs: req.News}, nil
}

func (c *unconfiguredAnswers) diff() (DiffResponse, error) {
	return DiffResponse{}, &DiffUnavailableError{Reason: unknownConfigurationReason}
}

func (c *unconfiguredAnswers) create(req CreateRequest) (CreateResponse, error) {
	if !req.Preview {
		return CreateResponse{}, c.refuse("create", req.URN)
	}
	if c.echoInputs {
		return CreateResponse{Properties: req.Properties}, nil
	}
	return CreateResponse{}, nil
}

func (c *unconfiguredAnswers) update(req UpdateRequest) (UpdateResponse, error) {
	if !req.Preview {
		return UpdateResponse{}, c.refuse("update", req.URN)
	}
	if c.echoInputs {
		return UpdateResponse{Properties: req.NewInputs}, nil
	}
	return UpdateResponse{}, nil
}

// read reports that the resource exists and that all of it is unknown.
func (c *unconfiguredAnswers) read(req ReadRequest) (ReadResponse, error) {
	return ReadResponse{ID: req.ID, Unknown: true, HasInputs: true}, nil
}

// refuse is for calls without such an answer: the engine makes them only outside previews, where every configuration is
// known.
func (c *unconfiguredAnswers) refuse(method string, u urn.URN) error {
	return fmt.Errorf("%s %s: %w", method, u, ErrConfigurationUnknown)
}
