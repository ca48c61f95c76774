package monitor

import (
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sluice-iac/sluice/source/internal/unnamed"
)

// The fields below belong to newer versions of the protocol than the generated types know. They are read from and
// written as fields without a name, which older peers skip (protocol.md 0.2). They are not advertised.
const (
	fieldInvokeDependsOn     protowire.Number = 13 // ResourceInvokeRequest.dependsOn
	fieldInvokeParent        protowire.Number = 15 // ResourceInvokeRequest.parent
	fieldInvokeUnknown       protowire.Number = 3  // ResourceInvokeResponse.unknown
	fieldRegistrationUnknown protowire.Number = 8  // RegisterResourceResponse.unknown
)

func invokeDependsOn(req *pulumirpc.ResourceInvokeRequest) []string {
	return unnamed.Of(req).Texts(fieldInvokeDependsOn)
}

func invokeParent(req *pulumirpc.ResourceInvokeRequest) string {
	return unnamed.Of(req).Text(fieldInvokeParent)
}

func setUnknownInvoke(reply *pulumirpc.InvokeResponse) { unnamed.SetFlag(reply, fieldInvokeUnknown) }

func setUnknownRegistration(reply *pulumirpc.RegisterResourceResponse) {
	unnamed.SetFlag(reply, fieldRegistrationUnknown)
}
