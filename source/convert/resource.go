package convert

import (
	"fmt"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Resource is a resource of a converted state, as the input of an import ([protocol.md 10.9]).
//
// [protocol.md 10.9]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#109-import-files
type Resource struct {
	Type        urn.Type
	Name        string // in references of other resources
	LogicalName string // in the URN; "" if it is Name
	ID          string
	Version     string // of the package; "" for any
	DownloadURL string
	Component   bool
	Remote      bool // of a component: its provider makes it

	// Parent and Provider are names of other resources; "" for none.
	Parent, Provider string
	Properties       []string // the inputs to record; none means all
	// Inputs and Outputs are nil if there are none.
	Inputs, Outputs  *property.Map
	Parameterization *Parameterization
	Extension        *Parameterization
}

// Parameterization is a plugin with its version and parameter, or an extension package with its version and parameter.
type Parameterization struct {
	Name, Version string
	Value         []byte
}

func newResource(r *pulumirpc.ResourceImport) (Resource, error) {
	out := Resource{
		Type: urn.Type(r.GetType()), Name: r.GetName(), LogicalName: r.GetLogicalName(), ID: r.GetId(), Version: r.GetVersion(),
		DownloadURL: r.GetPluginDownloadURL(), Component: r.GetIsComponent(), Remote: r.GetIsRemote(),
		Parent: r.GetParent(), Provider: r.GetProvider(), Properties: r.GetProperties(),
	}
	if p := r.GetParameterization(); p != nil {
		out.Parameterization = &Parameterization{Name: p.GetPluginName(), Version: p.GetPluginVersion(), Value: p.GetValue()}
	}
	if e := r.GetExtension(); e != nil {
		out.Extension = &Parameterization{Name: e.GetName(), Version: e.GetVersion(), Value: e.GetValue()}
	}
	var err error
	if out.Inputs, err = properties(r.GetInputs()); err != nil {
		return out, fmt.Errorf("its inputs: %w", err)
	}
	if out.Outputs, err = properties(r.GetOutputs()); err != nil {
		return out, fmt.Errorf("its outputs: %w", err)
	}
	return out, nil
}

// properties reads a Struct; nil if there is none.
func properties(s *structpb.Struct) (*property.Map, error) {
	if s == nil {
		return nil, nil
	}
	m, err := property.UnmarshalStruct(s, property.WireOptions{Unknowns: property.RejectUnknowns, KeepSecrets: true, KeepReferences: true})
	return &m, err
}
