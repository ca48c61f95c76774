package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/sourcegraph/conc/iter"
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/query"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/internal/text/printable"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/urn"
)

// queryFlags are the flags of `sluice query`.
type queryFlags struct {
	stack, project string
	all            bool
	columns        []string
	json, count    bool
	showSecrets    bool
	sqlViews       bool
}

// queryReaders is the number of stacks that a question reads at once. Each reader holds one state in memory.
const queryReaders = 8

func newQueryCommand(open *session.Opener) *cobra.Command {
	var f queryFlags
	cmd := &cobra.Command{
		Use:   "query expression",
		Short: "List the recorded resources for which an expression is true",
		Long: "List the recorded resources for which an expression is true, in a stack, in all stacks of a project, or in all stacks of the\n" +
			"backend. Nothing is read from the cloud, and nothing is changed.\n\n" +
			"The expression is in CEL, the Common Expression Language. These names are the values of a resource:\n\n" +
			"    stack, project, organization         where it is recorded\n" +
			"    urn, type, name, id, parent          texts; \"\" if there is none\n" +
			"    provider                             the reference of its provider\n" +
			"    providerPackage, providerVersion     of its provider; the version is \"\" if none is recorded\n" +
			"    inputs, outputs                      objects: outputs.acl, inputs.tags[\"cost-center\"]\n" +
			"    dependencies, propertyDependencies   URNs: a list, and an object with a list for each input\n" +
			"    custom, external, protect, retainOnDelete, taint, pendingDelete, pendingReplacement\n" +
			"                                         true or false\n" +
			"    created, modified                    times\n" +
			"    importID, deletedWith, viewOf, sourcePosition, replaceWith, ignoreChanges, initErrors\n\n" +
			"A resource that lacks a value, or has one of another type, does not match; has(outputs.acl) finds out whether it is there.\n" +
			"Secrets are not decrypted, and no passphrase is needed. A resource for which the answer depends on a secret does not match,\n" +
			"unless --show-secrets is given.\n\n" +
			"With a PostgreSQL backend, --sql-views prints the SQL statements that make views of the states, for questions in SQL.",
		Example: "  sluice query 'type == \"aws:s3/bucket:Bucket\" && outputs.acl == \"public-read\"'\n" +
			"  sluice query --all 'type == \"pulumi:providers:aws\" && providerVersion.startsWith(\"5.\")' --columns providerVersion\n" +
			"  sluice query --all 'type == \"pulumi:pulumi:StackReference\" && inputs.name == \"organization/net/prod\"'\n" +
			"  sluice query --project shop 'custom && !protect' --count\n" +
			"  sluice query --sql-views | psql service=states",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.sqlViews {
				return exactArgs(0)(cmd, args)
			}
			return exactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.sqlViews {
				return printViews(open.Terminal)
			}
			return queryStacks(cmd.Context(), open, args[0], f)
		},
	}
	flags.AddStack(cmd.Flags(), &f.stack)
	cmd.Flags().StringVarP(&f.project, "project", "p", "", "look in all stacks of this `project`")
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "look in all stacks of the backend")
	cmd.Flags().StringArrayVar(&f.columns, "columns", nil, "show these `expressions`, separated by commas, instead of the type, name and ID; may be repeated")
	cmd.Flags().BoolVar(&f.count, "count", false, "print only the number of resources")
	flags.AddJSON(cmd.Flags(), &f.json, "write JSON")
	cmd.Flags().BoolVar(&f.showSecrets, "show-secrets", false, "decrypt secrets, to compare and to show them")
	cmd.Flags().BoolVar(&f.sqlViews, "sql-views", false, "print the SQL statements that make views of a PostgreSQL backend, and ask nothing")
	return cmd
}

// printViews prints the statements for the views of the backend.
func printViews(t *terminal.Terminal) error {
	url, err := session.BackendURL(t.Lookup)
	if err != nil {
		return err
	}
	statements, err := cloud.Views(url)
	if errors.Is(err, cloud.ErrNoViews) {
		return exit.Usagef("--sql-views is for PostgreSQL backends, and the backend is %s", backend.MaskURL(url))
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	_, err = fmt.Fprint(t.Data(), statements)
	return err
}

// queryResult is the answer for one stack.
type queryResult struct {
	ref    backend.Ref
	answer query.Answer
	err    error
}

func queryStacks(ctx context.Context, open *session.Opener, expression string, f queryFlags) error {
	chosen := 0
	for _, given := range []bool{f.stack != "", f.project != "", f.all} {
		if given {
			chosen++
		}
	}
	switch {
	case chosen > 1:
		return exit.Usagef("only one of --stack, --project and --all may be given")
	case f.count && len(f.columns) > 0:
		return exit.Usagef("--count shows no columns: leave out --columns")
	}
	var columns []string
	for _, list := range f.columns {
		columns = append(columns, query.SplitColumns(list)...)
	}
	q, err := query.Compile(expression, columns)
	if err != nil {
		return exit.AsUsage(err)
	}
	s, err := open.AnySession(ctx)
	if err != nil {
		return err
	}
	results, err := askStacks(ctx, s, q, f)
	if err != nil {
		return err
	}
	several := f.all || f.project != ""
	if err := writeMatches(s, q, results, several, f); err != nil {
		return err
	}
	return remarkOn(s, results)
}

// askStacks asks the stacks that the flags choose.
func askStacks(ctx context.Context, s *session.Session, q *query.Query, f queryFlags) ([]queryResult, error) {
	if !f.all && f.project == "" {
		ref, err := s.ChooseOrAsk(ctx, f.stack)
		if err != nil {
			return nil, err
		}
		r := askStack(ctx, s, ref, q, f.showSecrets)
		return []queryResult{r}, r.err
	}
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: f.project})
	if err != nil {
		return nil, err
	}
	readers := iter.Mapper[backend.Listing, queryResult]{MaxGoroutines: queryReaders}
	if f.showSecrets && s.Terminal.Interactive() {
		readers.MaxGoroutines = 1 // each may have to ask for a passphrase
	}
	results := readers.Map(stacks, func(l *backend.Listing) queryResult {
		switch {
		case ctx.Err() != nil:
			return queryResult{ref: l.Ref, err: context.Cause(ctx)}
		case l.Err != nil:
			return queryResult{ref: l.Ref, err: l.Err}
		}
		return askStack(ctx, s, l.Ref, q, f.showSecrets)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return results, nil
}

func askStack(ctx context.Context, s *session.Session, ref backend.Ref, q *query.Query, showSecrets bool) queryResult {
	r := queryResult{ref: ref}
	stack, err := s.Open(ctx, ref)
	if err != nil {
		r.err = err
		return r
	}
	load := stack.State.LoadSealed
	if showSecrets {
		load = stack.State.Load
	}
	var snapshot *state.Snapshot
	if snapshot, r.err = load(ctx); r.err != nil {
		return r
	}
	r.answer, r.err = q.Ask(ctx, query.Stack{Organization: ref.Organization(), Project: ref.Project, Name: ref.Name}, snapshot, showSecrets)
	if showSecrets && r.err == nil {
		session.NoteDecryption(ctx, stack, "", "pulumi stack export") // a name that services know: as much is shown
	}
	return r
}

func writeMatches(s *session.Session, q *query.Query, results []queryResult, several bool, f queryFlags) error {
	switch {
	case f.count:
		n := 0
		for _, r := range results {
			n += len(r.answer.Matches)
		}
		_, err := fmt.Fprintln(s.Terminal.Data(), n)
		return err
	case f.json:
		return writeMatchesJSON(s, q, results, f.showSecrets)
	}
	w := tabwriter.NewWriter(s.Terminal.Out, 0, 0, 2, ' ', 0)
	heading := q.Columns()
	if len(heading) == 0 {
		heading = []string{"TYPE", "NAME", "ID"}
	}
	if several {
		heading = append([]string{"STACK"}, heading...)
	}
	writeCells(w, heading)
	for _, r := range results {
		for _, m := range r.answer.Matches {
			var cells []string
			if several {
				cells = append(cells, s.NameOf(r.ref))
			}
			if len(q.Columns()) == 0 {
				cells = append(cells, string(m.Resource.Type), m.Resource.URN.Name(), m.Resource.ID)
			}
			for _, v := range m.Values {
				cells = append(cells, cellText(v))
			}
			writeCells(w, cells)
		}
	}
	return w.Flush()
}

// writeCells writes a row of a table.
func writeCells(w *tabwriter.Writer, cells []string) {
	for len(cells) > 1 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1] // no spaces at the end of a line
	}
	for i, text := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, printable.Line(text))
	}
	fmt.Fprintln(w)
}

// cellText returns a text unchanged, and every other value as JSON.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// queriedResource is a resource in the JSON of an answer. All keys are always there.
type queriedResource struct {
	Organization    string         `json:"organization"`
	Project         string         `json:"project"`
	Stack           string         `json:"stack"`
	URN             string         `json:"urn"`
	Type            string         `json:"type"`
	Name            string         `json:"name"`
	ID              string         `json:"id"`
	Parent          string         `json:"parent"`
	Provider        string         `json:"provider"`
	ProviderPackage string         `json:"providerPackage"`
	ProviderVersion string         `json:"providerVersion"`
	Custom          bool           `json:"custom"`
	External        bool           `json:"external"`
	Protect         bool           `json:"protect"`
	RetainOnDelete  bool           `json:"retainOnDelete"`
	PendingDelete   bool           `json:"pendingDelete"`
	Dependencies    []string       `json:"dependencies"`
	Created         *string        `json:"created"` // null if it is not recorded
	Modified        *string        `json:"modified"`
	Inputs          map[string]any `json:"inputs"`
	Outputs         map[string]any `json:"outputs"`
}

func newQueriedResource(ref backend.Ref, m query.Match, showSecrets bool) queriedResource {
	r := m.Resource
	return queriedResource{
		Organization: ref.Organization(), Project: ref.Project, Stack: ref.Name,
		URN: string(r.URN), Type: string(r.Type), Name: r.URN.Name(), ID: r.ID, Parent: string(r.Parent), Provider: r.Provider,
		ProviderPackage: m.Provider.Package, ProviderVersion: m.Provider.Version,
		Custom: r.Custom, External: r.External, Protect: r.Protect, RetainOnDelete: r.RetainOnDelete, PendingDelete: r.Delete,
		Dependencies: append([]string{}, urn.Strings(r.Dependencies)...), Created: timeOrNull(r.Created), Modified: timeOrNull(r.Modified),
		Inputs: plainProperties(r.Inputs, showSecrets), Outputs: plainProperties(r.Outputs, showSecrets),
	}
}

func writeMatchesJSON(s *session.Session, q *query.Query, results []queryResult, showSecrets bool) error {
	columns := q.Columns()
	out := []any{}
	for _, r := range results {
		for _, m := range r.answer.Matches {
			if len(columns) == 0 {
				out = append(out, newQueriedResource(r.ref, m, showSecrets))
				continue
			}
			row := make(map[string]any, len(columns))
			for i, name := range columns {
				row[name] = m.Values[i]
			}
			out = append(out, row)
		}
	}
	return format.JSON(s.Terminal.Data(), out)
}

// remarkOn warns about resources that could not be compared, and returns an error if stacks could not be read.
func remarkOn(s *session.Session, results []queryResult) error {
	hidden, faulty, fault, failed := 0, 0, "", 0
	for _, r := range results {
		if r.err != nil {
			failed++
			s.Terminal.Warn("stack %s: %v", s.NameOf(r.ref), r.err)
		}
		hidden, faulty = hidden+r.answer.Hidden, faulty+r.answer.Faulty
		if fault == "" {
			fault = r.answer.Fault
		}
	}
	if hidden > 0 {
		s.Terminal.Warn("%s left out, because the answer depends on secrets; --show-secrets compares them", countOf(hidden))
	}
	if faulty > 0 {
		s.Terminal.Warn("%s left out, because the expression cannot be applied to what is recorded: %s", countOf(faulty), fault)
	}
	if failed > 0 {
		return errors.New("the answer is not complete: " + unreadStacks(failed, len(results)))
	}
	return nil
}

func countOf(resources int) string {
	if resources == 1 {
		return "1 resource was"
	}
	return fmt.Sprintf("%d resources were", resources)
}

func unreadStacks(failed, all int) string {
	if failed == 1 {
		return fmt.Sprintf("1 of %d stacks could not be read", all)
	}
	return fmt.Sprintf("%d of %d stacks could not be read", failed, all)
}
