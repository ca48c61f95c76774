package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/direct"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// doing is one call of `do`.
type doing struct {
	flags  *doFlags
	open   *session.Opener
	cmd    *cobra.Command
	args   []string // of the command, as they were written
	schema *direct.Schema
	member direct.Member
	set    *pflag.FlagSet
	token  string // as it was written
	words  []string
	inputs *direct.Flags // of the operation
	config *direct.Flags // of the provider
	masks  redact.Set
}

// do reads the schema of the package, and carries out what the arguments say.
func do(cmd *cobra.Command, open *session.Opener, f *doFlags, args, words []string) error {
	d := &doing{flags: f, open: open, cmd: cmd, args: args}
	if len(words) > 0 {
		d.token = words[0]
	}
	from, parameters, err := f.source(d.token)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	r, err := packages.NewReader(open.Terminal)
	if err != nil {
		return err
	}
	note := r.Options.Note
	r.Options.Note = func(text string, as ...advice.Advice) {
		if !slices.ContainsFunc(as, func(a advice.Advice) bool { return a.Action == advice.RefuseBuiltins }) { // `do` has no flag for that
			note(text, as...)
		}
	}
	p, err := r.Read(ctx, from, packages.Parameters{List: parameters}, f.server)
	if err != nil {
		return err
	}
	if d.schema, err = direct.ReadSchema(p.Schema); err != nil {
		return err
	}
	if d.token == "" {
		d.token = d.schema.Name
	}
	if d.member, err = d.schema.Find(d.token); err != nil {
		return err
	}
	if err := d.parse(); err != nil {
		return err
	}
	if help, _ := d.set.GetBool("help"); help || d.member.Module != nil || d.member.Resource != nil && len(d.words) == 1 {
		return describeMember(d)
	}
	op, err := d.operation()
	if err != nil {
		return err
	}
	err = d.perform(ctx, r, p, op)
	return d.masks.Error(d.named(err))
}

// named returns an error in which the resource has its type instead of a URN, which belongs to no stack.
func (d *doing) named(err error) error {
	if err == nil || d.member.Resource == nil {
		return err
	}
	text := d.withoutURN(err.Error())
	if text == err.Error() {
		return err
	}
	return &namedError{text, err}
}

func (d *doing) withoutURN(text string) string {
	if d.member.Resource == nil {
		return text
	}
	return strings.ReplaceAll(text, string(d.member.Resource.URN()), d.member.Resource.Token)
}

// namedError is an error with another text.
type namedError struct {
	text string
	err  error
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.err }

// parse parses all flags, with those of the inputs of the operation and of the settings of the provider.
func (d *doing) parse() error {
	d.set = pflag.NewFlagSet("do", pflag.ContinueOnError)
	d.set.SortFlags = true
	d.cmd.Flags().VisitAll(d.set.AddFlag)
	switch m := d.member; {
	case m.Function != nil:
		d.inputs = direct.NewFlags(d.set, d.schema, m.Function.Inputs(), "input", true)
	case m.Resource != nil:
		inputs := m.Resource.Inputs()
		if queries, can := m.Resource.Queries(); can && len(d.cmd.Flags().Args()) > 1 && d.cmd.Flags().Args()[1] == "list" {
			inputs = queries
		}
		d.inputs = direct.NewFlags(d.set, d.schema, inputs, "input", true)
	default:
		d.inputs = direct.NewFlags(d.set, d.schema, direct.Inputs{}, "input", true)
	}
	if f := d.flags.format; f != "yaml" && f != "json" {
		hint := ""
		if d.set.Lookup("input:input") != nil {
			hint = "; the input of that name is --input:input"
		}
		return exit.Usagef("--input is yaml or json, and not %q: `do` reads no other format%s", f, hint)
	}
	d.config = direct.NewFlags(d.set, d.schema, d.schema.Provider.Inputs(), d.schema.Name, false)
	if err := d.set.Parse(d.args); err != nil {
		return d.wrongFlag(err)
	}
	d.words = d.set.Args()
	if len(d.words) == 0 {
		d.words = []string{d.token}
	}
	if d.words[0] != d.token {
		return exit.Usagef("write %s before the flags, directly after `do`", d.token)
	}
	return nil
}

// wrongFlag returns the error for a flag that cannot be parsed.
func (d *doing) wrongFlag(err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return exit.AsUsage(err)
	}
	var names []string
	d.set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	meant := similar.Name(missing.GetSpecifiedName(), names)
	if meant != "" {
		meant = "; did you mean --" + meant + "?"
	}
	return exit.Usagef("%w%s\n`%s %s --help` lists the flags", err, meant, d.cmd.CommandPath(), d.token)
}

// given returns inputs from a file and from flags, which take precedence.
func (d *doing) given(ctx context.Context, file string, f *direct.Flags) (property.Map, error) {
	out := property.Map{}
	if file != "" {
		text, from, err := d.readFile(ctx, file)
		if err != nil {
			return out, err
		}
		if out, err = direct.ParseValues(from, text); err != nil {
			return out, exit.AsUsage(err)
		}
	}
	by, err := f.Values()
	if err != nil {
		return out, err
	}
	for name, v := range by.All() {
		out = out.With(name, v)
	}
	return out, nil
}

func (d *doing) readFile(ctx context.Context, file string) (text []byte, from string, err error) {
	if file == "-" {
		text, err = d.open.Terminal.ReadAll(ctx)
		return text, "the standard input", err
	}
	if text, err = os.ReadFile(file); err != nil {
		err = exit.AsUsage(err)
	}
	return text, file, err
}

// settings returns the settings of the provider.
func (d *doing) settings(ctx context.Context) (property.Map, error) {
	recorded, err := d.recorded(ctx)
	if err != nil {
		return property.Map{}, err
	}
	given, err := d.given(ctx, d.flags.providerFile, d.config)
	if err != nil {
		return property.Map{}, err
	}
	if err := d.schema.Provider.Inputs().Check(given, true); err != nil {
		return property.Map{}, err
	}
	for name, v := range given.All() {
		recorded = recorded.With(name, v)
	}
	return recorded, nil
}

// recorded returns the settings of the provider that --provider names.
func (d *doing) recorded(ctx context.Context) (property.Map, error) {
	if d.flags.provider == "" {
		return property.Map{}, nil
	}
	s, err := d.open.State(ctx, d.flags.stack)
	if err != nil {
		return property.Map{}, err
	}
	snapshot, err := s.State.Load(ctx)
	if err != nil {
		return property.Map{}, err
	}
	found, err := state.Find(snapshot, d.flags.provider)
	if err != nil {
		return property.Map{}, fmt.Errorf("--provider: %w", err)
	}
	r := found[len(found)-1]
	if r.Type != urn.ProviderType(d.schema.Name) {
		return property.Map{}, exit.Usagef("--provider: %s is no provider of the package %s; its type is %s", r.URN, d.schema.Name, r.Type)
	}
	pkg, err := stages.PackageOf(r.Type, r.Inputs)
	if err != nil {
		return property.Map{}, err
	}
	return direct.WithoutPlugin(r.Inputs, pkg.Version), nil
}

// doOperation is an operation of `do` with its arguments.
type doOperation struct {
	name string // "" is the call of a function
	id   string
	// changes means that the operation changes something, unless it is a dry run.
	changes bool
}

// operation returns the operation that the arguments name.
func (d *doing) operation() (doOperation, error) {
	words := d.words[1:]
	if d.member.Function != nil {
		if len(words) > 0 {
			return doOperation{}, exit.Usagef("unexpected argument %q: %s is a function, which has no operations", words[0], d.member.Function.Token)
		}
		return doOperation{}, d.checkCounts("")
	}
	op := doOperation{name: words[0]}
	takesID := true
	switch op.name {
	case "read":
	case "create":
		takesID, op.changes = false, true
	case "patch", "upsert", "delete":
		op.changes = true
	case "list":
		takesID = false
	default:
		return op, exit.Usagef("unknown operation %q: there are create, read, patch, upsert, delete and list", op.name)
	}
	switch words = words[1:]; {
	case takesID && len(words) == 0:
		return op, exit.Usagef("missing argument: write the ID of the object after %s", op.name)
	case takesID && words[0] == "":
		return op, exit.Usagef("the ID of the object is empty")
	case takesID:
		op.id, words = words[0], words[1:]
	case op.name == "create" && len(words) > 0 && !d.flags.stateless:
		return op, d.needsStateless(op)
	}
	if len(words) > 0 {
		return op, exit.Usagef("unexpected argument %q", words[0])
	}
	if op.changes && !d.flags.stateless {
		return op, d.needsStateless(op)
	}
	if op.changes && !d.flags.yes && !d.flags.dryRun && !d.open.Terminal.Interactive() {
		return op, exit.Usagef("--yes or --dry-run must be passed in to proceed when running in non-interactive mode")
	}
	return op, d.checkCounts(op.name)
}

// needsStateless returns the error for an operation that would have to record what it does.
func (d *doing) needsStateless(op doOperation) error {
	by := ""
	if op.name != "create" {
		by = ", which you name by its ID"
	}
	return exit.Usagef("sluice does not record what `do` changes: add --stateless to %s an object directly with the provider%s\n"+
		"To have an object in the state of a stack, declare it in a program, or take it over with `sluice import`", op.name, by)
}

func (d *doing) checkCounts(operation string) error {
	switch {
	case operation != "list" && (d.flags.all || d.flags.count != 0):
		return exit.Usagef("--all and --count are for list")
	case d.flags.all && d.flags.count != 0:
		return exit.Usagef("--all and --count cannot be used together")
	case d.flags.count < 0:
		return exit.Usagef("--count must be at least 1")
	}
	return nil
}

// perform starts the provider and carries out an operation.
func (d *doing) perform(ctx context.Context, r *packages.Reader, p *packages.Package, op doOperation) (err error) {
	inputs, err := d.given(ctx, d.flags.inputFile, d.inputs)
	if err != nil {
		return err
	}
	if err := d.checkInputs(op, inputs); err != nil {
		return err
	}
	settings, err := d.settings(ctx)
	if err != nil {
		return err
	}
	d.learn(settings, d.schema.Provider.InputProperties)
	r.Options.Log = slog.New(d.masks.Handler(d.open.Terminal.Log.Handler()))
	running, err := packages.Start(ctx, r, p, d.show)
	if err != nil {
		return err
	}
	defer func() { _ = running.Close() }() // an error of an ending plugin changes nothing
	call := &doCall{doing: d, provider: &direct.Provider{Inner: running, Schema: d.schema}, op: op, inputs: inputs}
	if err := call.during(ctx, func(ctx context.Context) error { return call.provider.Configure(ctx, settings) }); err != nil {
		return err
	}
	return call.run(ctx)
}

// checkInputs refuses inputs that do not fit the operation.
func (d *doing) checkInputs(op doOperation, inputs property.Map) error {
	if f := d.member.Function; f != nil {
		d.learn(inputs, f.Inputs().Properties)
		return f.Inputs().Check(inputs, false)
	}
	r := d.member.Resource
	d.learn(inputs, r.InputProperties)
	switch op.name {
	case "create", "upsert":
		return r.Inputs().Check(inputs, false)
	case "patch":
		if inputs.Len() == 0 {
			return exit.Usagef("there is nothing to change: give the inputs that are to change by flags, or by --input-file")
		}
		return r.Inputs().Check(inputs, true)
	case "list":
		queries, can := r.Queries()
		if !can {
			return exit.Usagef("the provider cannot list objects of %s", r.Token)
		}
		return queries.Check(inputs, false)
	}
	if inputs.Len() > 0 {
		return exit.Usagef("%s takes no inputs", op.name)
	}
	return nil
}

// learn keeps secrets out of messages.
func (d *doing) learn(m property.Map, properties map[string]*direct.Property) {
	if !d.flags.showSecrets {
		d.masks.Learn(d.schema.Mark(m, properties))
	}
}

// show shows a message of the provider.
func (d *doing) show(m stages.LogMessage) {
	if text := strings.TrimSpace(d.masks.Mask(d.withoutURN(m.Message))); text != "" && m.Severity != stages.Debug {
		fmt.Fprintf(d.open.Terminal.Err, "%s: %s\n", m.Severity, text)
	}
}
