package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/conversion"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/declarations"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// importFlags are the flags of import (protocol.md 10.2).
type importFlags struct {
	flags.Operation
	parent, provider  string
	properties        []string
	file, out         string
	protect           bool
	generateCode      bool
	from              string
	generateResources string
}

func newImportCommand(open *session.Opener) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import [TYPE NAME ID | -- ARGUMENT...]",
		Short: "Take existing resources under management",
		Long: "Read existing resources from their providers, record them in the state of the stack, and print the declarations that\n" +
			"you copy into the program: in YAML, TypeScript, Python, Go or Java. The resources do not change, and the program does\n" +
			"not run.\n\n" +
			"To import one resource, give its type, in full or as displays show it, a name for it and its ID:\n\n" +
			"  sluice import aws:s3/bucket:Bucket logs my-log-bucket\n\n" +
			"To import many, list them in a JSON file. `sluice preview --import-file FILE` writes such a file for everything that\n" +
			"the program would create; add the IDs:\n\n" +
			"  {\"resources\": [{\"type\": \"aws:s3/bucket:Bucket\", \"name\": \"logs\", \"id\": \"my-log-bucket\"}]}\n\n" +
			"Imported resources are protected against deletion unless --protect=false is given. The command first shows a preview\n" +
			"and asks for confirmation, unless --yes is given.\n\n" +
			"With --from, a converter plugin reads the resources from the state of another tool. The arguments are passed to the\n" +
			"plugin; write those that begin with a hyphen after `--`. If the import fails, the list of resources is kept in a file.\n" +
			"Correct it, and import it with --file:\n\n" +
			"  sluice import --from terraform terraform.tfstate",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.from == "" {
				if err := rangeArgs(0, 3)(cmd, args); err != nil {
					return err
				}
			}
			return importResources(cmd.Context(), open, f, args)
		},
	}
	p := cmd.Flags()
	f.Add(p)
	flags.AddTiming(p)
	f.Reports.Add(p)
	flags.AddYes(p, &f.Confirmation.Yes, "do not ask for confirmation")
	p.BoolVar(&f.Confirmation.SkipPreview, "skip-preview", false, "do not preview first") // its letter is that of --file
	f.Confirmation.AddPreviewOnly(p, "only show what would be recorded")
	excludes(cmd, "yes", "preview-only")
	excludes(cmd, "skip-preview", "preview-only")
	p.StringVarP(&f.file, "file", "f", "", "import what this JSON file lists")
	p.StringVar(&f.parent, "parent", "", "the parent as name=URN; the name is its variable in the program, and that of the resource if not given; a resource may be named as displays show it")
	p.StringVar(&f.provider, "provider", "", "the provider as name=URN, as --parent")
	p.StringSliceVar(&f.properties, "properties", nil, "record only these inputs, separated by commas; all if not given")
	p.BoolVar(&f.protect, "protect", true, "protect the resources against deletion")
	p.BoolVar(&f.generateCode, "generate-code", true, "print declarations for the program")
	p.StringVarP(&f.out, "out", "o", "", "write the declarations to this file")
	p.StringVar(&f.from, "from", "", "have this converter list the resources of another tool's state: terraform, ...")
	p.StringVar(&f.generateResources, "generate-resources", "", "with --from: always write the list of resources to this file")
	return cmd
}

// importResources runs the command import.
func importResources(ctx context.Context, open *session.Opener, f *importFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	var list *importfile.File
	if f.from == "" {
		var err error
		if list, err = f.list(args); err != nil {
			return err
		}
	}
	s, err := operate.Open(ctx, open, &f.Operation)
	if err != nil {
		return err
	}
	job, err := operate.Prepare(ctx, s, operate.Import(nil), &f.Operation)
	if err != nil {
		return err
	}
	if f.from != "" {
		return importConverted(ctx, job, f, args)
	}
	if err := f.bindNames(ctx, s, list); err != nil {
		return err
	}
	if len(list.Resources) == 0 {
		job.Terminal.Warn("there is nothing to import: %s has no entries in `resources`", f.file)
	}
	if err := completeTypes(ctx, job, list); err != nil {
		return exit.AsUsage(err)
	}
	return importList(ctx, job, f, list)
}

// check refuses contradictory flags.
func (f *importFlags) check() error {
	switch {
	case f.from != "" && f.file != "":
		return exit.Usagef("a converter may not be specified in conjunction with an import file") // scripts look for the words
	case f.from != "" && (f.parent != "" || f.provider != "" || len(f.properties) > 0):
		return exit.Usagef("--parent, --provider and --properties are for one resource, and a converter lists many; " +
			"write the list to a file with --generate-resources FILE --preview-only, edit it, and import it with --file")
	case f.from == "" && f.generateResources != "":
		return exit.Usagef("--generate-resources requires --from")
	case !f.generateCode && f.out != "":
		return exit.Usagef("--out and --generate-code=false cannot be used together")
	}
	return nil
}

// importConverted imports the resources that a converter lists. If that fails, or on request, it writes the list to a file.
func importConverted(ctx context.Context, job *operate.Job, f *importFlags, args []string) error {
	s := job.Stack
	encryption := func(ctx context.Context) (property.Encrypter, error) {
		manager, err := session.SecretsManager(ctx, s)
		if err != nil {
			return nil, err
		}
		return manager.Encrypter(), nil
	}
	options := operate.PluginOptions(job, s.Project.Directory())
	list, err := conversion.State(ctx, job.Terminal, conversion.Tool(f.from), args, encryption, options)
	if err != nil {
		return err
	}
	if f.generateResources != "" {
		path, err := conversion.SaveList(list, f.generateResources)
		if err != nil {
			return err
		}
		fmt.Fprintf(job.Terminal.Err, "The list of resources is in %s\n", path)
		return importList(ctx, job, f, list)
	}
	err = importList(ctx, job, f, list)
	if err == nil {
		return nil
	}
	path, saveErr := conversion.SaveList(list, "")
	if saveErr != nil {
		return errors.Join(err, saveErr)
	}
	fmt.Fprintf(job.Terminal.Err, job.Terminal.Named("The list of resources is in %s; correct it, and import it with `sluice import --file %s`\n"),
		path, format.ShellQuote(path))
	return err
}

// importList imports the resources of a list.
func importList(ctx context.Context, job *operate.Job, f *importFlags, list *importfile.File) error {
	requests, names, err := importRequests(ctx, job.Stack, f, list)
	if err != nil {
		return exit.AsUsage(err)
	}
	job.Kind = operate.Import(requests)
	if f.generateCode {
		job.AfterPreview = func(context.Context, *sluice.Result) error { return declarations.EnsureFile(f.out) }
		job.AfterOperation = func(ctx context.Context) error {
			return declarations.Write(ctx, job, requests, names, declarations.Options{File: f.out, Protect: f.protect})
		}
	}
	return operate.Run(ctx, job)
}

// completeTypes replaces the types that are written in their display form.
func completeTypes(ctx context.Context, job *operate.Job, list *importfile.File) error {
	types := declarations.NewTypes(job)
	defer func() { _ = types.Close() }() // an error of an ending plugin changes nothing
	remarked := map[urn.Type]bool{}
	for i := range list.Resources {
		r := &list.Resources[i]
		if r.Component || r.Parameterization != nil {
			continue
		}
		full, remark, err := types.Full(ctx, r.Type)
		if err != nil {
			return err
		}
		if r.Type = full; remark != "" && !remarked[full] {
			remarked[full] = true
			job.Terminal.Warn("%s", remark)
		}
	}
	return nil
}

// list returns what to import: the entries of the file, or the one resource of the arguments.
func (f *importFlags) list(args []string) (*importfile.File, error) {
	if f.file != "" {
		if len(args) > 0 || f.parent != "" || f.provider != "" || len(f.properties) > 0 {
			return nil, exit.Usagef("an inline resource may not be specified in conjunction with an import file")
		}
		list, err := importfile.Read(f.file)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		return list, nil
	}
	if missing := [...]string{"type, name, and id", "name and id", "id", ""}[len(args)]; missing != "" {
		return nil, exit.Usagef("an inline resource must be specified if no import file is used, missing %s", missing)
	}
	q := importfile.Resource{Type: urn.Type(args[0]), Name: args[1], ID: args[2], Properties: f.properties}
	list := &importfile.File{NameTable: map[string]urn.URN{}}
	for _, x := range []struct {
		flag, text string
		name       *string
	}{{"parent", f.parent, &q.Parent}, {"provider", f.provider, &q.Provider}} {
		if x.text == "" {
			continue
		}
		name, text, err := named(x.flag, x.text, q.Name)
		if err != nil {
			return nil, exit.Usagef("--%s: %w", x.flag, err)
		}
		if _, taken := list.NameTable[name]; taken || name == q.Name {
			return nil, exit.Usagef("provider, parent and resource must have distinct names; '%s' stands for two of them", name)
		}
		list.NameTable[name], *x.name = urn.URN(text), name
	}
	list.Resources = []importfile.Resource{q}
	return list, nil
}

// named parses name=RESOURCE. RESOURCE is a URN, or a name that [bindNames] replaces by one. Without "name=", the name is that of RESOURCE,
// because the program probably uses it, unless the imported resource has the same name.
func named(flag, text, imported string) (name, rest string, err error) {
	rest = text
	if before, after, ok := strings.Cut(text, "="); ok && !urn.URN(text).IsValid() {
		name, rest = before, after
	} else if name = strings.TrimPrefix(rest[strings.LastIndex(rest, "::")+1:], ":"); name == imported {
		name += strings.ToUpper(flag[:1]) + flag[1:]
	}
	if name == "" {
		return "", "", errors.New("must be of the form name=URN")
	}
	if ref, err := urn.ParseProviderRef(rest); err == nil && strings.Count(rest, "::") > 3 {
		return "", "", fmt.Errorf("expected a URN but got a provider reference, use '%s' instead", ref.URN)
	}
	return name, rest, nil
}

// bindNames replaces the display names of recorded resources in the flags for parents and providers by URNs.
func (f *importFlags) bindNames(ctx context.Context, s *session.Stack, list *importfile.File) error {
	for _, x := range [][2]string{{"parent", f.parent}, {"provider", f.provider}} {
		flag, text := x[0], x[1]
		if text == "" {
			continue
		}
		name, rest, err := named(flag, text, list.Resources[0].Name)
		if err != nil || urn.URN(rest).IsValid() {
			continue
		}
		snapshot, err := s.State.LoadSealed(ctx)
		if err != nil {
			return err
		}
		found, err := state.FindLive(snapshot, rest)
		if err != nil {
			return exit.Usagef("--%s: expected a URN but got '%s': %w", flag, rest, err) // scripts look for the first words
		}
		list.NameTable[name] = found.URN
	}
	return nil
}

// importRequests turns the list into requests for the stack.
func importRequests(
	ctx context.Context, s *session.Stack, f *importFlags, list *importfile.File,
) ([]stages.ImportRequest, importfile.Names, error) {
	target := importfile.Target{Stack: s.Ref.Name, Project: s.Project.Name, Protect: f.protect}
	if list.HasProperties() {
		manager, err := session.SecretsManager(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		target.Decrypter = manager.Decrypter()
	}
	if len(list.ProviderInputs) > 0 {
		s.Terminal.Warn("'providerInputs' in import files is deprecated: list the provider in 'resources' and give it 'inputs'")
	}
	return list.Requests(ctx, target)
}
