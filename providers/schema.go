package providers

import (
	"context"
	"fmt"
	"strings"
)

// Schema returns the JSON schema of the package that spec describes. If extension is not nil, it returns that of the
// extension of the package ([protocol.md 1.12]). A provider that has to be started is closed again; it is never configured.
// The error wraps [ErrUnsupported] if the provider has no schema. The text need not be JSON: providers have bugs.
//
// [protocol.md 1.12]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#112-packages-and-parameterization
func Schema(ctx context.Context, host Host, spec Spec, extension *ParameterizeRequest) (string, error) {
	spec.OnlySchema = true
	p, err := host.Load(ctx, spec)
	if err != nil {
		return "", err
	}
	defer func() { _ = p.Close() }() // its error changes nothing
	req := SchemaRequest{}
	if spec.Parameterization != nil {
		req = SchemaRequest{SubpackageName: spec.Package, SubpackageVersion: spec.Version}
	}
	if extension != nil {
		is, err := p.Parameterize(ctx, *extension)
		if err != nil {
			return "", err
		}
		req = SchemaRequest{SubpackageName: is.Name, SubpackageVersion: is.Version}
	}
	text, err := p.Schema(ctx, req)
	if err == nil && strings.Trim(text, " \t\r\n{}") == "" {
		// Some providers return an empty schema if they have none.
		err = fmt.Errorf("schema of provider %q: %w", spec.Package, ErrUnsupported)
	}
	return text, err
}
