package monitor

import (
	"context"
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// statusHandler implements the ResourceStatus service. It is immutable.
type statusHandler struct {
	pulumirpc.UnsafeResourceStatusServer
	views stages.Views
}

func (h statusHandler) PublishViewSteps(
	ctx context.Context, req *pulumirpc.PublishViewStepsRequest,
) (*pulumirpc.PublishViewStepsResponse, error) {
	steps := make([]providers.ViewStep, len(req.GetSteps()))
	for i, s := range req.GetSteps() {
		var err error
		if steps[i], err = viewStep(s); err != nil {
			return nil, statusOf(fmt.Errorf("steps[%d]: %w", i, err))
		}
	}
	if err := h.views.PublishViews(ctx, req.GetToken(), steps); err != nil {
		return nil, statusOf(err)
	}
	return &pulumirpc.PublishViewStepsResponse{}, nil
}

func viewStep(s *pulumirpc.ViewStep) (out providers.ViewStep, err error) {
	out = providers.ViewStep{
		Op: providers.ViewOp(s.GetOp()), Error: redact.Cut(s.GetError(), redact.MaxMessage), Status: providers.ViewStatus(s.GetStatus()),
		Keys: s.GetKeys(), Diffs: s.GetDiffs(),
	}
	if out.Old, err = viewState("old", s, s.GetOld()); err != nil {
		return out, err
	}
	if out.New, err = viewState("new", s, s.GetNew()); err != nil {
		return out, err
	}
	out.DetailedDiff = detailedDiff(s)
	return out, nil
}

// detailedDiff reads the changes of single properties. Unknown kinds are updates.
func detailedDiff(s *pulumirpc.ViewStep) map[string]providers.PropertyDiff {
	if !s.GetHasDetailedDiff() {
		return nil
	}
	out := make(map[string]providers.PropertyDiff, len(s.GetDetailedDiff()))
	for path, d := range s.GetDetailedDiff() {
		kind := providers.DiffKind(d.GetKind())
		if kind < providers.DiffAdd || kind > providers.DiffUpdateReplace {
			kind = providers.DiffUpdate
		}
		out[path] = providers.PropertyDiff{Kind: kind, InputDiff: d.GetInputDiff()}
	}
	return out
}

// viewState reads one side of a step. If it has no type or name, that of the step applies.
func viewState(which string, of *pulumirpc.ViewStep, s *pulumirpc.ViewStepState) (*providers.View, error) {
	if s == nil {
		return nil, nil
	}
	inputs, err := decodeMap(which+".inputs", s.GetInputs())
	if err != nil {
		return nil, err
	}
	outputs, err := decodeMap(which+".outputs", s.GetOutputs())
	if err != nil {
		return nil, err
	}
	v := &providers.View{
		Type: urn.Type(s.GetType()), Name: s.GetName(), ParentType: urn.Type(s.GetParentType()), ParentName: s.GetParentName(),
		Inputs: inputs, Outputs: outputs,
	}
	if v.Type == "" {
		v.Type = urn.Type(of.GetType())
	}
	if v.Name == "" {
		v.Name = of.GetName()
	}
	return v, nil
}
