package convert

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/sluice-iac/sluice/source/internal/unnamed"
)

// The fields below belong to newer versions of the protocol than the generated types know. They are read from and written as
// fields without a name, which older peers skip (protocol.md 0.2).
const (
	fieldLoader    protowire.Number = 3 // ConvertStateRequest.loader_target
	fieldEcosystem protowire.Number = 4 // GetMappingRequest.ecosystem

	fieldParameterization protowire.Number = 9  // ResourceImport.parameterization
	fieldExtension        protowire.Number = 10 // ResourceImport.extension
	fieldParent           protowire.Number = 11 // ResourceImport.parent
	fieldProperties       protowire.Number = 12 // ResourceImport.properties
	fieldProvider         protowire.Number = 13 // ResourceImport.provider
	fieldInputs           protowire.Number = 14 // ResourceImport.inputs
	fieldOutputs          protowire.Number = 15 // ResourceImport.outputs
)

// parameterization reads a message with a name, a version and a value; nil if it is not set.
func parameterization(of unnamed.Fields, field protowire.Number) *Parameterization {
	value, set := of.Last(field)
	if !set {
		return nil
	}
	f := unnamed.Read(value)
	return &Parameterization{Name: f.Text(1), Version: f.Text(2), Value: []byte(f.Text(3))}
}

// setLoader names the loader to converters that need one for states.
func setLoader(m proto.Message, address string) { unnamed.SetText(m, fieldLoader, address) }
