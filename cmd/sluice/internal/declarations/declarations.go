// Package declarations writes the declarations of imported resources, with which the program manages them from then on.
package declarations

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/codegen"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Options define where the declarations go.
type Options struct {
	File string // "" means the standard output
}

// Write writes the declarations of the resources that a job has imported. It is called after the operation, and leaves out failed imports.
func Write(ctx context.Context, j *operate.Job, requests []stages.ImportRequest, names importfile.Names, o Options) error {
	s, f := j.Stack, j.Flags
	if o.File == "" && f.Display.JSON() {
		return nil // the standard output has JSON
	}
	snapshot, err := s.State.Load(context.WithoutCancel(ctx))
	switch {
	case err != nil:
		return err
	case snapshot == nil:
		return EnsureFile(o.File)
	}
	resources := imported(snapshot, s.Ref.Name, s.Session.Project.Name, requests)
	if len(resources) == 0 {
		return EnsureFile(o.File)
	}
	if !codegen.Supports(s.Session.Project.Runtime) {
		j.Terminal.Warn("declarations are written for %s, not for the runtime %q; `sluice stack export` shows the inputs that the program "+
			"has to declare", strings.Join(codegen.Runtimes(), ", "), s.Session.Project.Runtime)
		return EnsureFile(o.File)
	}
	known := schemas(ctx, j, snapshot, resources)
	if resources = withoutUnlisted(j, resources, known); len(resources) == 0 {
		return EnsureFile(o.File)
	}
	text, err := codegen.Generate(s.Session.Project.Runtime, codegen.Program{
		Resources: resources, Names: names, Schemas: known, ShowSecrets: f.Display.ShowSecrets(),
	})
	if err == nil && o.File != "" {
		err = writeFile(o.File, text, f.Display.ShowSecrets())
	}
	if err != nil {
		return fmt.Errorf("the resources have been imported, but the declarations could not be written: %w", err)
	}
	if o.File != "" {
		return nil
	}
	// An object that was recorded before the import keeps its options.
	return show(j.Terminal, text, slices.ContainsFunc(resources, func(r *state.Resource) bool { return r.Protect }))
}

// withoutUnlisted leaves out the resources whose type is not in the schema of their package, with a warning: the SDK of the package has no
// such type either.
func withoutUnlisted(j *operate.Job, resources []*state.Resource, known map[string]*codegen.Schema) []*state.Resource {
	return slices.DeleteFunc(resources, func(r *state.Resource) bool {
		schema := known[r.Provider]
		if schema == nil || r.Type.IsProvider() {
			return false
		}
		if types := schema.ResourceTypes(); len(types) == 0 || slices.Contains(types, r.Type) {
			return false
		}
		j.Terminal.Warn("%s has been imported, and there is no declaration for it: the schema of the package %s does not have the type %s",
			r.URN, r.Type.Package(), r.Type)
		return true
	})
}

func writeFile(path string, text []byte, secrets bool) error {
	mode := os.FileMode(0o666)
	if secrets {
		mode = 0o600
	}
	return os.WriteFile(path, text, mode)
}

func show(t *terminal.Terminal, text []byte, protect bool) error {
	without := "the next update deletes what it\ndoes not find declared."
	if protect {
		without = t.Named("the next update fails: it\nwould delete the imported resources, and what is protected cannot be deleted. To destroy them, remove the\n" +
			"`protect` option first and run `sluice up`.")
	}
	fmt.Fprint(t.Out, "\nCopy the following declarations into the program. Without them "+without+"\n\n")
	_, err := t.Data().Write(text)
	return err
}

// EnsureFile creates an empty file if there are no declarations, for programs that read the file after the command. It does not change an
// existing file.
func EnsureFile(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("make the file for declarations: %w", err)
	}
	return file.Close()
}

// imported returns the recorded states of the requested resources, in the order of the requests.
func imported(s *state.Snapshot, stack, project string, requests []stages.ImportRequest) []*state.Resource {
	live := map[urn.URN]*state.Resource{}
	for _, r := range s.Resources {
		if !r.Delete {
			live[r.URN] = r
		}
	}
	var out []*state.Resource
	for _, q := range requests {
		if r := live[q.URN(stack, project)]; r != nil {
			out = append(out, r)
		}
	}
	return out
}
