package builtin

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

var errNoStacks = errors.New("other stacks cannot be read here: this run has no backend")

// Invoke calls one of the package's functions.
func (p *provider) Invoke(ctx context.Context, req providers.InvokeRequest) (providers.InvokeResponse, error) {
	var result property.Map
	var err error
	switch req.Token {
	case ReadStackOutputs:
		result, err = p.readStackOutputs(ctx, req.Args)
	case ReadStackResourceOutputs:
		result, err = p.readStackResourceOutputs(ctx, req.Args)
	case GetResource:
		result, err = p.getResource(req.Args)
	default:
		err = unknownFunction(req.Token)
	}
	return providers.InvokeResponse{Return: result}, err
}

func argument(args property.Map, name string) (string, error) {
	v, _ := args.At(name).Unwrap()
	if _, ok := args.Get(name); !ok {
		return "", fmt.Errorf("missing required property %q", name)
	}
	if !v.IsString() {
		return "", fmt.Errorf("property %q must be a string", name)
	}
	return v.AsString(), nil
}

// stackReference returns the outputs of a stack reference; unknown ones if the name is unknown.
func (p *provider) stackReference(ctx context.Context, name property.Value) (property.Map, error) {
	inner, _ := name.Unwrap()
	if inner.IsUnknown() {
		return property.NewMap(map[string]property.Value{
			"name": name, "outputs": property.Computed(), "secretOutputNames": property.Computed(),
		}), nil
	}
	if !inner.IsString() {
		return property.Map{}, errors.New(`property "name" must be a string`)
	}
	if p.options.StackOutputs == nil {
		return property.Map{}, errNoStacks
	}
	outputs, err := p.options.StackOutputs(ctx, inner.AsString())
	if err != nil {
		return property.Map{}, err
	}
	// Older SDKs use the names to find the secret outputs.
	var secrets []property.Value
	for key, v := range outputs.All() {
		if v.HasSecrets() {
			secrets = append(secrets, property.String(key))
		}
	}
	return property.NewMap(map[string]property.Value{
		"name": name, "outputs": property.Of(outputs), "secretOutputNames": property.ArrayOf(secrets...),
	}), nil
}

func (p *provider) readStackOutputs(ctx context.Context, args property.Map) (property.Map, error) {
	name, err := argument(args, "name")
	if err != nil {
		return property.Map{}, err
	}
	return p.stackReference(ctx, property.String(name))
}

func (p *provider) readStackResourceOutputs(ctx context.Context, args property.Map) (property.Map, error) {
	name, err := argument(args, "stackName")
	if err != nil {
		return property.Map{}, err
	}
	if p.options.StackResources == nil {
		return property.Map{}, errNoStacks
	}
	resources, err := p.options.StackResources(ctx, name)
	if err != nil {
		return property.Map{}, err
	}
	outputs := make(map[string]property.Value, len(resources))
	for _, r := range resources {
		outputs[string(r.URN)] = property.Of(property.NewMap(map[string]property.Value{
			"type": property.String(string(r.Type)), "outputs": property.Of(r.Outputs),
		}))
	}
	return property.NewMap(map[string]property.Value{
		"name": property.String(name), "outputs": property.Of(property.NewMap(outputs)),
	}), nil
}

func (p *provider) getResource(args property.Map) (property.Map, error) {
	text, err := argument(args, "urn")
	if err != nil {
		return property.Map{}, err
	}
	u, err := urn.Parse(text)
	if err != nil {
		return property.Map{}, err
	}
	var r Resource
	ok := p.options.Resource != nil
	if ok {
		r, ok = p.options.Resource(u)
	}
	if !ok {
		return property.Map{}, fmt.Errorf("unknown resource %v", u)
	}
	return property.NewMap(map[string]property.Value{
		"urn": property.String(string(r.URN)), "id": property.String(r.ID),
		"provider": property.String(r.Provider), "state": property.Of(r.Outputs),
	}), nil
}
