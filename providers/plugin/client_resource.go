package plugin

import (
	"context"
	"errors"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// Check makes the plugin check the inputs of a resource (protocol.md 3.4).
func (c *client) Check(ctx context.Context, req providers.CheckRequest) (providers.CheckResponse, error) {
	s := subject{method: methodCheck, urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.CheckRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), RandomSeed: req.RandomSeed,
		Olds: e.encode(req.Olds, c.outgoing(keptElseDropped(req.AllowUnknowns))),
		News: e.encode(req.News, c.outgoing(keptElseDropped(req.AllowUnknowns))),
	}
	if a := req.Autonaming; a != nil && c.features.Load().autonaming {
		msg.Autonaming = &pulumirpc.CheckRequest_AutonamingOptions{
			ProposedName: a.ProposedName, Mode: pulumirpc.CheckRequest_AutonamingOptions_Mode(a.Mode),
		}
	}
	if e.err != nil {
		return providers.CheckResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Check, msg)
	if err != nil {
		return providers.CheckResponse{}, err
	}
	inputs, err := c.decode(s, answer.GetInputs(), incoming(req.AllowUnknowns))
	if err != nil {
		return providers.CheckResponse{}, err
	}
	return providers.CheckResponse{
		Inputs: c.received(inputs, req.News), Failures: failures(answer.GetFailures()),
		AutonamingUnsupported: req.Autonaming != nil && msg.GetAutonaming() == nil,
	}, nil
}

// Diff makes the plugin compare the old state of a resource with its new inputs (protocol.md 3.5).
func (c *client) Diff(ctx context.Context, req providers.DiffRequest) (providers.DiffResponse, error) {
	s := subject{method: methodDiff, urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(keptElseDropped(req.AllowUnknowns)))
	msg := &pulumirpc.DiffRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, IgnoreChanges: req.IgnoreChanges,
		Olds: e.encode(req.OldOutputs, olds), OldInputs: e.encode(req.OldInputs, olds),
		News: e.encode(req.NewInputs, elided(c.outgoing(keptElseDropped(req.AllowUnknowns)))),
	}
	if e.err != nil {
		return providers.DiffResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Diff, msg)
	if err != nil {
		return providers.DiffResponse{}, err
	}
	return diffResponse(answer), nil
}

// diffResponse reads an answer. Unknown kinds of changes are updates; unknown numbers of "changes" are left for the
// engine to refuse.
func diffResponse(answer *pulumirpc.DiffResponse) providers.DiffResponse {
	out := providers.DiffResponse{
		Changes: providers.DiffChanges(answer.GetChanges()), ReplaceKeys: answer.GetReplaces(),
		StableKeys: answer.GetStables(), ChangedKeys: answer.GetDiffs(), DeleteBeforeReplace: answer.GetDeleteBeforeReplace(),
	}
	if !answer.GetHasDetailedDiff() {
		return out
	}
	out.DetailedDiff = make(map[string]providers.PropertyDiff, len(answer.GetDetailedDiff()))
	for path, d := range answer.GetDetailedDiff() {
		kind := providers.DiffKind(d.GetKind())
		if kind < providers.DiffAdd || kind > providers.DiffUpdateReplace {
			kind = providers.DiffUpdate
		}
		out.DetailedDiff[path] = providers.PropertyDiff{Kind: kind, InputDiff: d.GetInputDiff()}
	}
	return out
}

// previews reports whether the plugin can preview changes. If not, the outputs of a change are its inputs (protocol.md
// 3.6).
func (c *client) previews() bool { return c.features.Load().preview && !c.disablePreview }

// Create makes a resource. A resource that is not healthy is a *providers.InitError.
func (c *client) Create(ctx context.Context, req providers.CreateRequest) (providers.CreateResponse, error) {
	if req.Preview && !c.previews() {
		return providers.CreateResponse{Properties: req.Properties}, nil
	}
	s := subject{method: "create", urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.CreateRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Timeout: req.Timeout, Preview: req.Preview,
		Properties: e.encode(req.Properties, c.outgoing(keptIf(req.Preview))),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return providers.CreateResponse{}, e.err
	}
	in := incoming(req.Preview)
	answer, err := roundTrip(ctx, c, s, c.rpc.Create, msg)
	if err != nil {
		unhealthy := c.initError(s, err, in, req.Properties, req.Properties)
		switch {
		case unhealthy == nil:
			return providers.CreateResponse{}, err
		case isWithoutID(unhealthy) && !req.Preview:
			return providers.CreateResponse{}, c.malformed(s, "an empty ID for an object that is not healthy (%w)", plain(err))
		}
		return providers.CreateResponse{}, unhealthy
	}
	switch id := answer.GetId(); {
	case req.Preview: // it may be unknown
	case id == "":
		return providers.CreateResponse{}, c.malformed(s, "an empty ID")
	case property.IsUnknownMarker(id):
		return providers.CreateResponse{}, c.malformed(s, unknownID)
	}
	out, err := c.decode(s, answer.GetProperties(), in)
	if err != nil {
		return providers.CreateResponse{}, unusable(err)
	}
	return providers.CreateResponse{
		ID: answer.GetId(), Properties: c.received(out, req.Properties), RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

// isWithoutID reports whether err is the error of an unhealthy object without an ID.
func isWithoutID(err error) bool {
	var partial *providers.InitError
	return errors.As(err, &partial) && partial.ID == ""
}

// unknownID describes an ID that only a preview may have.
const unknownID = "the marker of an unknown value as the ID"

// Update changes a resource in place. A resource that is not healthy is a *providers.InitError.
func (c *client) Update(ctx context.Context, req providers.UpdateRequest) (providers.UpdateResponse, error) {
	if req.Preview && !c.previews() {
		return providers.UpdateResponse{Properties: req.NewInputs}, nil
	}
	s := subject{method: "update", urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(property.DropUnknowns))
	msg := &pulumirpc.UpdateRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		IgnoreChanges: req.IgnoreChanges, Preview: req.Preview,
		Olds: e.encode(req.OldOutputs, olds), OldInputs: e.encode(req.OldInputs, olds),
		News:     e.encode(req.NewInputs, c.outgoing(keptIf(req.Preview))),
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return providers.UpdateResponse{}, e.err
	}
	in := incoming(req.Preview)
	answer, err := roundTrip(ctx, c, s, c.rpc.Update, msg)
	if err != nil {
		if unhealthy := c.initError(s, err, in, req.NewInputs, req.NewInputs); unhealthy != nil {
			return providers.UpdateResponse{}, unhealthy
		}
		return providers.UpdateResponse{}, err
	}
	out, err := c.decode(s, answer.GetProperties(), in)
	if err != nil {
		return providers.UpdateResponse{}, unusable(err)
	}
	return providers.UpdateResponse{
		Properties: c.received(out, req.NewInputs), RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

// Delete deletes a resource.
func (c *client) Delete(ctx context.Context, req providers.DeleteRequest) error {
	s := subject{method: "delete", urn: req.URN}
	e := c.encoder(s)
	olds := elided(c.outgoing(property.DropUnknowns))
	msg := &pulumirpc.DeleteRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		Properties: e.encode(req.Outputs, olds), OldInputs: e.encode(req.Inputs, olds),
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if e.err != nil {
		return e.err
	}
	_, err := roundTrip(ctx, c, s, c.rpc.Delete, msg)
	return err
}

// Read reads a resource (protocol.md 3.6). Assets that come back without their content are replaced by the sent ones.
func (c *client) Read(ctx context.Context, req providers.ReadRequest) (providers.ReadResponse, error) {
	s := subject{method: "read", urn: req.URN}
	e := c.encoder(s)
	msg := &pulumirpc.ReadRequest{
		Urn: string(req.URN), Name: req.Name, Type: string(req.Type), Id: req.ID, Timeout: req.Timeout,
		OldViews: c.views(e, req.OldViews),
	}
	msg.ResourceStatusAddress, msg.ResourceStatusToken = e.status(req.Status)
	if req.Known {
		olds := elided(c.outgoing(property.DropUnknowns))
		msg.Inputs, msg.Properties = e.encode(req.Inputs, olds), e.encode(req.State, olds)
	}
	if e.err != nil {
		return providers.ReadResponse{}, e.err
	}
	answer, err := roundTrip(ctx, c, s, c.rpc.Read, msg)
	if err != nil {
		if unhealthy := c.initError(s, err, incoming(false), req.Inputs, req.State); unhealthy != nil {
			return providers.ReadResponse{}, unhealthy
		}
		return providers.ReadResponse{}, err
	}
	switch id := answer.GetId(); {
	case id == "":
		return providers.ReadResponse{}, nil
	case property.IsUnknownMarker(id):
		return providers.ReadResponse{}, c.fault(s, unknownID)
	}
	state, err := c.decode(s, answer.GetProperties(), incoming(false))
	if err != nil {
		return providers.ReadResponse{}, err
	}
	inputs, err := c.decode(s, answer.GetInputs(), incoming(false))
	if err != nil {
		return providers.ReadResponse{}, err
	}
	return providers.ReadResponse{
		ID: answer.GetId(), Exists: true, HasInputs: answer.GetInputs() != nil,
		Inputs:              c.received(property.RestoreAssets(inputs, req.Inputs), req.Inputs),
		Properties:          c.received(property.RestoreAssets(state, req.Inputs), req.State),
		RefreshBeforeUpdate: answer.GetRefreshBeforeUpdate(),
	}, nil
}

func (c *client) views(e *encoder, list []providers.View) []*pulumirpc.View {
	var out []*pulumirpc.View
	olds := elided(c.outgoing(property.DropUnknowns))
	for _, v := range list {
		out = append(out, &pulumirpc.View{
			Type: string(v.Type), Name: v.Name, ParentType: string(v.ParentType), ParentName: v.ParentName,
			Inputs: e.encode(v.Inputs, olds), Outputs: e.encode(v.Outputs, olds),
		})
	}
	return out
}
