package declarations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/codegen"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/urn"
)

// Types completes types in their display form: "random:index:RandomPet" or "random:RandomPet" becomes
// "random:index/randomPet:RandomPet". It requests the schema of each package once.
type Types struct {
	host    *host.PluginHost
	schemas map[string]*codegen.Schema // nil for a provider that has none
}

// NewTypes returns the types of the packages that a job can use.
func NewTypes(j *operate.Job) *Types {
	plugins := host.NewPluginHost(operate.PluginOptions(j, j.Stack.Session.Project.Directory()))
	return &Types{host: plugins, schemas: map[string]*codegen.Schema{}}
}

// Close closes the providers.
func (t *Types) Close() error { return t.host.Close() }

// Full returns the full form of a type, and a remark if the package does not list it. The type is then unchanged: a provider may have
// more types than its schema.
func (t *Types) Full(ctx context.Context, written urn.Type) (full urn.Type, remark string, err error) {
	pkg, _, _ := strings.Cut(string(written), ":")
	if written.IsProvider() || strings.Contains(string(written), "/") || urn.CheckPackageName("package", pkg) != nil {
		return written, "", nil
	}
	known := t.of(ctx, pkg)
	if len(known) == 0 || slices.Contains(known, written) {
		return written, "", nil
	}
	var called []urn.Type
	for _, k := range known {
		if k.IsCalled(string(written)) {
			called = append(called, k)
		}
	}
	switch len(called) {
	case 0:
		text := fmt.Sprintf("the package %s has no resource type %s", pkg, written)
		if strings.Count(string(written), ":") != 2 {
			return "", "", errors.New(text + meant(written, known)) // a provider cannot have such a type
		}
		return written, "the schema of " + text + "; its provider decides whether there is one" + meant(written, known), nil
	case 1:
		return called[0], "", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d types are called %s; write the one that you mean", len(called), written)
	for _, k := range called {
		fmt.Fprintf(&b, "\n  %s", k)
	}
	return "", "", errors.New(b.String())
}

// meant returns the end of an error about an unknown type, with the known types of a similar name.
func meant(written urn.Type, known []urn.Type) string {
	last := string(written[strings.LastIndex(string(written), ":")+1:])
	all := ""
	for _, k := range known {
		name := string(k[strings.LastIndex(string(k), ":")+1:])
		if levenshtein.Distance(strings.ToLower(last), strings.ToLower(name), nil) <= max(1, len(last)/4) {
			all += "\n  " + string(k)
		}
	}
	if all == "" {
		return ""
	}
	return "; did you mean" + all
}

// of returns the types of a package, in ascending order; none if its provider returns no schema.
func (t *Types) of(ctx context.Context, pkg string) []urn.Type {
	schema, asked := t.schemas[pkg]
	if !asked {
		schema, _ = t.ask(ctx, pkg) // the operation reports why a provider does not start
		t.schemas[pkg] = schema
	}
	if schema == nil {
		return nil
	}
	return schema.ResourceTypes()
}

func (t *Types) ask(ctx context.Context, pkg string) (*codegen.Schema, error) {
	text, err := providers.Schema(ctx, t.host, providers.Spec{Package: pkg}, nil)
	if err != nil {
		return nil, err
	}
	return codegen.ParseSchema(text)
}
