package declarations

import (
	"context"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/codegen"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// ownPackage is the package of stack references and stashes. It is part of each SDK, and its provider has no schema.
const ownPackage = "pulumi"

// ownSchema is as much of a schema of it as declarations need: an imported stash has no input, and needs one.
const ownSchema = `{
	"name": "pulumi",
	"language": {"go": {"importBasePath": "github.com/pulumi/pulumi/sdk/v3/go/pulumi"}},
	"resources": {
		"pulumi:index:Stash": {"inputProperties": {"input": {"$ref": "pulumi.json#/Any"}}, "requiredInputs": ["input"]}
	}
}`

// schemas requests the schema of each package once, from the provider of a resource. It leaves out schemas that a
// provider cannot return; the declarations then follow the usual conventions.
func schemas(ctx context.Context, j *operate.Job, s *state.Snapshot, resources []*state.Resource) map[string]*codegen.Schema {
	recorded := map[string]*state.Resource{}
	for _, r := range s.Resources {
		if r.Type.IsProvider() && !r.Delete {
			recorded[urn.ProviderRef{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	project := j.Stack.Session.Project
	directory, _, err := source.Locate(project.Directory(), project.Main)
	if err != nil {
		directory = project.Directory()
	}
	plugins := host.NewPluginHost(operate.PluginOptions(j, directory))
	defer func() { _ = plugins.Close() }() // an error of an ending plugin changes nothing
	out := map[string]*codegen.Schema{}
	for _, r := range resources {
		ref := r.Provider
		if r.Type.IsProvider() {
			ref = urn.ProviderRef{URN: r.URN, ID: r.ID}.String()
		}
		provider := recorded[ref]
		if _, asked := out[ref]; asked || provider == nil {
			continue
		}
		out[ref] = nil
		text, err := ownSchema, error(nil)
		if provider.Type.ProviderPackage() != ownPackage {
			text, err = host.PackageSchema(ctx, plugins, provider)
		}
		if err == nil {
			out[ref], err = codegen.ParseSchema(text)
		}
		if err != nil {
			j.Terminal.Warn("the declarations of %s resources are guesses, as the schema of the package is not known: %v",
				provider.Type.ProviderPackage(), err)
		}
	}
	return out
}
