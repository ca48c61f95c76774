package plugin

import (
	"errors"
	"fmt"
	"strings"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
)

// isWithoutConfig reports whether err means that a plugin has no CheckConfig or DiffConfig. Two kinds of plugins have
// their own errors for that (protocol.md 3.3).
func isWithoutConfig(plugin string, err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, providers.ErrUnsupported) {
		return true
	}
	st, ok := status.FromError(err)
	if !ok {
		return false
	}
	switch plugin {
	case "pulumi-nodejs":
		return st.Code() == codes.Internal
	case "kubernetes":
		return st.Code() == codes.Unknown &&
			(strings.Contains(st.Message(), "Unimplemented") || strings.Contains(st.Message(), "cannot unmarshal string"))
	}
	return false
}

// variables is the old form of the configuration: strings as they are, everything else as JSON.
func variables(pkg string, e *encoder, inputs property.Map) map[string]string {
	plain := e.encodeBy(property.MarshalStruct, inputs.Without(providers.VersionKey), property.WireOptions{Unknowns: property.KeepUnknowns})
	out := make(map[string]string, len(plain.GetFields()))
	for key, v := range plain.GetFields() {
		out[pkg+":config:"+key] = textOf(v)
	}
	return out
}

// configureError reads missing settings of a package from an error of Configure.
func configureError(r *remote, pkg string, err error) error {
	st, ok := status.FromError(err)
	if !ok {
		return err
	}
	if st.Code() == codes.Unimplemented {
		title := r.name
		if r.process != nil {
			title = r.process.Title() // with its location
		}
		return fmt.Errorf("plugin %s is not a resource provider and cannot be configured: %w", title, err)
	}
	for _, d := range st.Details() {
		missing, ok := d.(*pulumirpc.ConfigureErrorMissingKeys)
		if !ok || len(missing.GetMissingKeys()) == 0 {
			continue
		}
		list := &providers.ConfigMissingError{Package: pkg}
		for _, k := range missing.GetMissingKeys() {
			list.Keys = append(list.Keys, providers.MissingKey{Name: k.GetName(), Description: k.GetDescription()})
		}
		return list
	}
	return err
}
