package monitor

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// The fields below belong to newer versions of the protocol than the generated types know. They are read from and
// written as fields without a name, which older peers skip (protocol.md 0.2). They are not advertised.
const (
	fieldInvokeDependsOn     protowire.Number = 13 // ResourceInvokeRequest.dependsOn
	fieldInvokeParent        protowire.Number = 15 // ResourceInvokeRequest.parent
	fieldInvokeUnknown       protowire.Number = 3  // ResourceInvokeResponse.unknown
	fieldRegistrationUnknown protowire.Number = 8  // RegisterResourceResponse.unknown
)

// unnamedTexts returns the values of a string field that the generated type of m does not have.
func unnamedTexts(m proto.Message, field protowire.Number) []string {
	var values []string
	for b := []byte(m.ProtoReflect().GetUnknown()); len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return values
		}
		b = b[n:]
		if number == field && kind == protowire.BytesType {
			text, n := protowire.ConsumeString(b)
			if n < 0 {
				return values
			}
			values = append(values, text)
		}
		n = protowire.ConsumeFieldValue(number, kind, b)
		if n < 0 {
			return values
		}
		b = b[n:]
	}
	return values
}

func setUnnamedFlag(m proto.Message, field protowire.Number) {
	b := protowire.AppendTag(nil, field, protowire.VarintType)
	m.ProtoReflect().SetUnknown(protowire.AppendVarint(b, 1))
}

func invokeDependsOn(req *pulumirpc.ResourceInvokeRequest) []string {
	return unnamedTexts(req, fieldInvokeDependsOn)
}

func invokeParent(req *pulumirpc.ResourceInvokeRequest) string {
	values := unnamedTexts(req, fieldInvokeParent)
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func setUnknownInvoke(reply *pulumirpc.InvokeResponse) { setUnnamedFlag(reply, fieldInvokeUnknown) }

func setUnknownRegistration(reply *pulumirpc.RegisterResourceResponse) {
	setUnnamedFlag(reply, fieldRegistrationUnknown)
}
