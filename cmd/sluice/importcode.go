package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/codegen"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/urn"
)

// writeImported writes the declarations of what was imported, after the operation: what it could not import is not there.
func (o *operation) writeImported(ctx context.Context, f *importFlags, requests []sluice.ImportRequest, names importfile.Names) error {
	if f.out == "" && f.Display.JSON {
		return nil // the standard output has JSON on it
	}
	snapshot, err := o.stack.Load(context.WithoutCancel(ctx))
	if err != nil || snapshot == nil {
		return err
	}
	resources := imported(snapshot, o.ref.Name, o.project.Name, requests)
	if len(resources) == 0 {
		return f.ensureOut()
	}
	if !codegen.Supports(o.project.Runtime) {
		o.cli.Warn("declarations are written for yaml, nodejs and go, not for the runtime %q; `sluice stack export` shows the "+
			"inputs that the program has to declare", o.project.Runtime)
		return f.ensureOut()
	}
	text, err := codegen.Generate(o.project.Runtime, codegen.Program{
		Resources: resources, Names: names, Schemas: o.schemas(ctx, snapshot, resources), ShowSecrets: o.flags.Display.ShowSecrets(),
	})
	if err != nil {
		return fmt.Errorf("the resources have been imported, but the declarations could not be written: %w", err)
	}
	if f.out != "" {
		mode := os.FileMode(0o666)
		if o.flags.Display.ShowSecrets() {
			mode = 0o600
		}
		if err := os.WriteFile(f.out, text, mode); err != nil {
			return fmt.Errorf("the resources have been imported, but the declarations could not be written: %w", err)
		}
		return nil
	}
	fmt.Fprint(o.cli.Out, "\nCopy the following declarations into the program. Without them the next update deletes what it\n"+
		"does not find declared.\n\n")
	if f.protect {
		fmt.Fprint(o.cli.Out, "The imported resources are protected. To destroy them, remove the `protect` option first and run\n"+
			"`sluice up`.\n\n")
	}
	_, err = o.cli.Out.Write(text)
	return err
}

// ensureOut makes an empty file where there are no declarations: programs that run the command read it. One that is there
// stays as it is.
func (f *importFlags) ensureOut() error {
	if f.out == "" {
		return nil
	}
	file, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("make the file for declarations: %w", err)
	}
	return file.Close()
}

// imported returns the recorded states of what was to be imported, in the order of the requests.
func imported(s *sluice.Snapshot, stack, project string, requests []sluice.ImportRequest) []*sluice.Resource {
	live := map[urn.URN]*sluice.Resource{}
	for _, r := range s.Resources {
		if !r.Delete {
			live[r.URN] = r
		}
	}
	var out []*sluice.Resource
	for _, q := range requests {
		if r := live[q.URN(stack, project)]; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// schemas asks the providers of the resources for the schemas of their packages, each once. What a provider cannot tell is
// left out: the declarations then follow the usual conventions.
func (o *operation) schemas(ctx context.Context, s *sluice.Snapshot, resources []*sluice.Resource) map[string]*codegen.Schema {
	recorded := map[string]*sluice.Resource{}
	for _, r := range s.Resources {
		if r.Type.IsProvider() && !r.Delete {
			recorded[urn.ProviderRef{URN: r.URN, ID: r.ID}.String()] = r
		}
	}
	directory, _, err := sluice.LocateProgram(o.project.Directory(), o.project.Main)
	if err != nil {
		directory = o.project.Directory()
	}
	host := sluice.NewPluginHost(o.pluginOptions(nil, directory))
	defer func() { _ = host.Close() }() // what a plugin says while it ends changes nothing
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
		text, err := sluice.PackageSchema(ctx, host, provider)
		if err == nil {
			out[ref], err = codegen.ParseSchema(text)
		}
		if err != nil {
			o.cli.Warn("the declarations of %s resources are guesses, as the schema of the package is not known: %v",
				provider.Type.ProviderPackage(), err)
		}
	}
	return out
}
