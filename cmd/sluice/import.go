package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/conversion"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/declarations"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importing"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/listing"
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
	failed            string // the file for what is not imported
	list              string // the type of the resources that the provider lists
	query             []string
	limit             int64
}

func newImportCommand(open *session.Opener) *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import [TYPE NAME ID | --file FILE | --list TYPE | --from TOOL -- ARGUMENT...]",
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
			"  sluice import --from terraform terraform.tfstate\n\n" +
			"With --list, the provider lists the resources of a type. Those that the stack manages already are left out:\n\n" +
			"  sluice import --list aws:s3/bucket:Bucket --limit 200\n\n" +
			"Many resources are imported in parallel. If some fail, the others are imported all the same, and a file lists what is\n" +
			"left, with the reasons. Correct it, and import it with --file. An import that was interrupted goes on when you repeat\n" +
			"the command.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.from == "" {
				if err := rangeArgs(0, 3)(cmd, args); err != nil {
					return err
				}
			}
			if !cmd.Flags().Changed("limit") {
				f.limit = -1
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
	p.StringVar(&f.failed, "failed", "", "write the resources of a list that could not be imported to this file; default with --file FILE.json: FILE.failed.json")
	p.StringVar(&f.list, "list", "", "import the resources of this type that the provider lists")
	p.StringArrayVar(&f.query, "query", nil, "with --list: only those with a property, as NAME=VALUE; may be repeated. The schema of the package says which properties")
	p.Int64Var(&f.limit, "limit", listing.Default, "with --list: import at most this many; 0: all. Without this flag, more of them are an error")
	p.StringVar(&f.generateResources, "generate-resources", "", "with --from and --list: always write the list of resources to this file")
	return cmd
}

// importResources runs the command import.
func importResources(ctx context.Context, open *session.Opener, f *importFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	var list *importfile.File
	if f.from == "" && f.list == "" {
		var err error
		if list, err = f.given(args); err != nil {
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
	switch {
	case f.from != "":
		return importConverted(ctx, job, f, args)
	case f.list != "":
		return importListed(ctx, job, f)
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
	_, err = importList(ctx, job, f, list)
	return err
}

// check refuses contradictory flags.
func (f *importFlags) check(args []string) error {
	switch {
	case f.from != "" && f.file != "":
		return exit.Usagef("a converter may not be specified in conjunction with an import file") // scripts look for the words
	case f.from != "" && (f.parent != "" || f.provider != "" || len(f.properties) > 0):
		return exit.Usagef("--parent, --provider and --properties are for one resource, and a converter lists many; " +
			"write the list to a file with --generate-resources FILE --preview-only, edit it, and import it with --file")
	case f.list != "" && (f.from != "" || f.file != "" || len(args) > 0):
		return exit.Usagef("--list cannot be used together with --file, --from or TYPE NAME ID: it imports what the provider lists")
	case f.list == "" && (len(f.query) > 0 || f.limit >= 0):
		return exit.Usagef("--query and --limit require --list")
	case f.list != "" && f.limit < -1:
		return exit.Usagef("--limit must be 0 or more")
	case f.from == "" && f.list == "" && f.generateResources != "":
		return exit.Usagef("--generate-resources requires --from or --list")
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
	options := operate.PluginOptions(job, s.Session.Project.Directory())
	list, err := conversion.State(ctx, job.Terminal, conversion.Tool(f.from), args, encryption, options)
	if err != nil {
		return err
	}
	if f.generateResources != "" {
		path, err := list.Save(f.generateResources)
		if err != nil {
			return err
		}
		fmt.Fprintf(job.Terminal.Err, "The list of resources is in %s\n", path)
		_, err = importList(ctx, job, f, list)
		return err
	}
	imported, err := importList(ctx, job, f, list)
	if err == nil || imported {
		return err
	}
	path, saveErr := list.Save("")
	if saveErr != nil {
		return errors.Join(err, saveErr)
	}
	fmt.Fprintf(job.Terminal.Err, job.Terminal.Named("The list of resources is in %s; correct it, and import it with `sluice import --file %s`\n"),
		path, format.ShellQuote(path))
	return err
}

// importListed imports the resources that the provider lists, and that the stack does not manage yet.
func importListed(ctx context.Context, job *operate.Job, f *importFlags) error {
	kind := &importfile.File{Resources: []importfile.Resource{{Type: urn.Type(f.list)}}}
	if err := completeTypes(ctx, job, kind); err != nil {
		return exit.AsUsage(err)
	}
	entries := listing.Entries{Type: kind.Resources[0].Type, NameTable: map[string]urn.URN{}, Properties: f.properties}
	if !entries.Type.IsToken() || entries.Type.IsProvider() {
		return exit.Usagef("--list: %q is not the type of a resource, such as aws:s3/bucket:Bucket", f.list)
	}
	snapshot, err := job.Stack.State.Load(ctx)
	if err != nil {
		return err
	}
	if err := f.refer(&entries, snapshot); err != nil {
		return err
	}
	query := listing.Query{Type: entries.Type, Inputs: f.query, Limit: f.limit}
	if u := entries.NameTable[entries.Provider]; u != "" {
		if query.Provider, err = state.FindLive(snapshot, string(u)); err != nil {
			return exit.Usagef("--provider: %w", err)
		}
	}
	listed, more, err := listing.Ask(ctx, job, query)
	if err != nil {
		return err
	}
	all, fresh := entries.Lists(listed, snapshot)
	t := job.Terminal
	fmt.Fprintf(t.Err, "The provider lists %s of type %s", format.Resources(len(listed)), entries.Type)
	if more {
		fmt.Fprint(t.Err, ", and there are more")
	}
	if managed := len(all.Resources) - len(fresh.Resources); managed > 0 {
		fmt.Fprintf(t.Err, "; %d of them are in the state already and are left out", managed)
	}
	fmt.Fprintln(t.Err)
	if f.generateResources != "" {
		path, err := all.Save(f.generateResources)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.Err, "The list of all of them is in %s\n", path)
	}
	if len(fresh.Resources) == 0 {
		fmt.Fprintln(t.Err, "There is nothing to import")
		return nil
	}
	_, err = importList(ctx, job, f, fresh)
	return err
}

// refer resolves the parent and the provider of the listed resources.
func (f *importFlags) refer(e *listing.Entries, s *state.Snapshot) error {
	for _, x := range []struct {
		flag, text string
		name       *string
	}{{"parent", f.parent, &e.Parent}, {"provider", f.provider, &e.Provider}} {
		if x.text == "" {
			continue
		}
		name, text, err := named(x.flag, x.text, "")
		if err != nil {
			return exit.Usagef("--%s: %w", x.flag, err)
		}
		if e.NameTable[name] != "" {
			return exit.Usagef("provider and parent must have distinct names; '%s' stands for both", name)
		}
		u := urn.URN(text)
		if !u.IsValid() {
			if u, err = recordedAs(s, x.flag, text); err != nil {
				return err
			}
		}
		e.NameTable[name], *x.name = u, name
	}
	if u := e.NameTable[e.Provider]; u != "" && u.Type() != urn.ProviderType(e.Type.Package()) {
		return exit.Usagef("--provider: %s is no provider of the package %s", u, e.Type.Package())
	}
	return nil
}

// importList imports the resources of a list. It reports whether the import has begun, after which what is left of the list is in a file.
func importList(ctx context.Context, job *operate.Job, f *importFlags, list *importfile.File) (begun bool, err error) {
	requests, names, err := importRequests(ctx, job.Stack, f, list)
	if err != nil {
		return false, exit.AsUsage(err)
	}
	o := importing.Options{Left: f.failed}
	if o.Left == "" && f.file != "" {
		o.Left = importfile.LeftPath(f.file)
	}
	if f.generateCode {
		o.Declare = &declarations.Options{File: f.out}
	}
	i := importing.New(job, list, requests, names, o)
	err = i.Run(ctx)
	return i.Performed(), err
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

// given returns what to import: the entries of the file, or the one resource of the arguments.
func (f *importFlags) given(args []string) (*importfile.File, error) {
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
		if list.NameTable[name], err = recordedAs(snapshot, flag, rest); err != nil {
			return err
		}
	}
	return nil
}

// recordedAs returns the URN of the recorded resource that a flag names as displays show it.
func recordedAs(s *state.Snapshot, flag, text string) (urn.URN, error) {
	found, err := state.FindLive(s, text)
	if err != nil {
		return "", exit.Usagef("--%s: expected a URN but got '%s': %w", flag, text, err) // scripts look for the first words
	}
	return found.URN, nil
}

// importRequests turns the list into requests for the stack.
func importRequests(
	ctx context.Context, s *session.Stack, f *importFlags, list *importfile.File,
) ([]stages.ImportRequest, importfile.Names, error) {
	target := importfile.Target{Stack: s.Ref.Name, Project: s.Session.Project.Name, Protect: f.protect}
	if list.HasProperties() {
		manager, err := session.SecretsManager(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		target.Decrypter = manager.Decrypter()
	}
	if len(list.ProviderInputs) > 0 {
		s.Session.Terminal.Warn("'providerInputs' in import files is deprecated: list the provider in 'resources' and give it 'inputs'")
	}
	return list.Requests(ctx, target)
}
