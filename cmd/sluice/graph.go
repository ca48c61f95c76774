package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/diagram"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

type drawFlags struct {
	stack, format, out, plan, around string
	files                            []string // "-" is the standard output
	depth, limit                     int
	expand, waves                    bool
}

// The forms of a graph.
const (
	formSVG     = "svg"
	formPNG     = "png"
	formDOT     = "dot"
	formMermaid = "mermaid"
	formJSON    = "json"
)

// formEndings maps forms to the extensions of their files.
var formEndings = map[string]string{
	".svg": formSVG, ".png": formPNG, ".dot": formDOT, ".gv": formDOT, ".mmd": formMermaid, ".mermaid": formMermaid, ".json": formJSON,
}

func newGraphCommand(open *session.Opener) *cobra.Command {
	f := &drawFlags{}
	cmd := &cobra.Command{
		Use:   "graph [FILE]...",
		Short: "Draw the resources of a stack or of a plan, and their dependencies",
		Long: "Draw the resources of a stack and their dependencies. An arrow runs from a resource to one that needs it, so the\n" +
			"resources that are created first are on the left.\n\n" +
			"With --plan FILE, written by `preview --save-plan FILE`, changes are marked and coloured, and resources to be created\n" +
			"are included. With --waves, resources that a destroy would delete at the same time are drawn below each other; wave 1\n" +
			"is deleted first.\n\n" +
			"A component is one box together with its children, unless it has few of them or they change; --expand draws all\n" +
			"children. Many similar resources share a box that names them. If there are more boxes than --limit, other resources\n" +
			"share boxes too, and a note says so. From 300 resources on, the graph is collapsed: resources of one type share a box\n" +
			"that counts them, except those that change. --limit 0 draws each. JSON always contains every resource.\n\n" +
			"--around shows one resource, what it needs and what needs it, up to --depth steps away, with components expanded.\n\n" +
			"The extension of FILE (.svg, .png, .dot, .mmd, .json) or --format chooses the format. Without a FILE, the graph goes to\n" +
			"the standard output, by default in DOT, the language of Graphviz.",
		Example: "  sluice graph stack.svg\n  sluice preview --save-plan plan.json && sluice graph --plan plan.json plan.svg plan.mmd\n" +
			"  sluice graph --around web --depth 1 --format mermaid",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.files = args
			return drawGraph(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	flags.AddStack(p, &f.stack)
	p.StringVarP(&f.out, "out", "o", "", "write this file, like FILE")
	p.StringVar(&f.format, "format", "", "svg, png, dot, mermaid or json")
	p.StringVar(&f.plan, "plan", "", "show what this plan changes")
	p.BoolVar(&f.waves, "waves", false, "show what a destroy would delete at the same time")
	p.StringVar(&f.around, "around", "", "show only the resource with this name or URN, what it needs and what needs it")
	p.IntVar(&f.depth, "depth", 2, "how many steps from the resource of --around")
	p.BoolVar(&f.expand, "expand", false, "draw what is in components")
	p.IntVar(&f.limit, "limit", 100, "the largest number of boxes; 0 means no limit")
	return cmd
}

func drawGraph(ctx context.Context, open *session.Opener, f *drawFlags) error {
	targets, err := f.targets()
	if err != nil {
		return err
	}
	if err := f.check(targets, open.Terminal.OutTerminal); err != nil {
		return err
	}
	s, err := open.State(ctx, f.stack)
	if err != nil {
		return err
	}
	d, err := readDiagram(ctx, s, f)
	if err != nil {
		return err
	}
	noted := ""
	for _, target := range targets {
		content, note, err := renderGraph(ctx, d, target.form, diagram.Options{Expand: f.expand || f.around != "", Limit: f.limit})
		if err != nil {
			return err
		}
		if note != noted && note != "" { // it is the same for all drawings
			noted = note
			open.Terminal.Warn("%s", note)
		}
		if err := target.write(open.Terminal, content); err != nil {
			return err
		}
	}
	return nil
}

// graphTarget is a file for a graph.
type graphTarget struct{ path, form string }

func (t graphTarget) isOutput() bool { return t.path == "-" }

func (t graphTarget) write(to *terminal.Terminal, content []byte) error {
	if t.isOutput() {
		_, err := to.Data().Write(content)
		return err
	}
	if err := os.WriteFile(t.path, content, 0o666); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	_, err := fmt.Fprintf(to.Out, "Wrote the graph to %s\n", format.Printable(t.path))
	return err
}

// targets returns the files that the arguments and flags name, with their forms.
func (f *drawFlags) targets() ([]graphTarget, error) {
	paths := f.files
	if f.out != "" {
		paths = append(slices.Clone(paths), f.out)
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	out := make([]graphTarget, 0, len(paths))
	for _, path := range paths {
		form, err := f.form(path)
		if err != nil {
			return nil, err
		}
		out = append(out, graphTarget{path, form})
	}
	return out, nil
}

// form returns the form of a file.
func (f *drawFlags) form(path string) (string, error) {
	forms := []string{formSVG, formPNG, formDOT, formMermaid, formJSON}
	ending := strings.ToLower(filepath.Ext(path))
	switch {
	case slices.Contains(forms, f.format):
		return f.format, nil
	case f.format != "":
		return "", exit.Usagef("--format is svg, png, dot, mermaid or json, not %q", f.format)
	case path == "-":
		return formDOT, nil
	case formEndings[ending] != "":
		return formEndings[ending], nil
	}
	says := fmt.Sprintf("the graph %q: its name must end in .svg, .png, .dot, .mmd or .json, or --format must say what it is", path)
	if ending == ".html" || ending == ".md" {
		says += "; `sluice report` writes reports as " + ending
	}
	return "", exit.Usagef("%s", says)
}

func (f *drawFlags) check(targets []graphTarget, onTerminal bool) error {
	switch {
	case f.plan != "" && f.waves:
		return exit.Usagef("--plan and --waves exclude each other: waves are those of a destroy")
	case f.depth < 0:
		return exit.Usagef("--depth is a number of steps, 0 or more, not %d", f.depth)
	case f.limit < 0:
		return exit.Usagef("--limit is a number of boxes, or 0 for no limit, not %d", f.limit)
	}
	for _, t := range targets {
		if onTerminal && t.isOutput() && (t.form == formPNG || t.form == formSVG) {
			return exit.Usagef("a terminal does not show %s: write a file with `sluice graph graph.%s`", strings.ToUpper(t.form), t.form)
		}
	}
	return nil
}

// readDiagram reads the state, without its secrets, and the plan.
func readDiagram(ctx context.Context, s *session.Stack, f *drawFlags) (*diagram.Diagram, error) {
	snapshot, err := s.State.LoadSealed(ctx)
	if err != nil {
		return nil, err
	}
	var d *diagram.Diagram
	if f.plan != "" {
		plan, err := readDrawnPlan(ctx, s, f.plan)
		if err != nil {
			return nil, err
		}
		d = diagram.OfPlan(s.Ref.Project, s.Ref.Name, snapshot, plan)
	} else {
		var waves [][]*state.Resource
		if f.waves && snapshot != nil {
			if waves, err = sluice.DestroyWaves(snapshot); err != nil {
				return nil, err
			}
		}
		d = diagram.OfState(s.Ref.Project, s.Ref.Name, snapshot, waves)
	}
	if f.around == "" {
		return d, nil
	}
	u, err := pickDrawn(d, f.around)
	if err != nil {
		return nil, err
	}
	return d.Around(u, f.depth), nil
}

// readDrawnPlan reads a plan without its secrets, so that no passphrase is needed.
func readDrawnPlan(ctx context.Context, s *session.Stack, path string) (*state.Plan, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("read the plan: %w", err))
	}
	plan, err := state.DecodePlan(ctx, content, state.PlanDecodeOptions{Name: path, Decrypter: noSecrets{}})
	if err != nil {
		return nil, exit.AsUsage(fmt.Errorf("--plan: %w", err))
	}
	for u := range plan.Resources {
		if u.Stack() == s.Ref.Name && u.Project() == s.Ref.Project {
			return plan, nil
		}
	}
	return nil, exit.Usagef("the plan in %s names no resource of stack '%s': it was made for another stack", path, s.Name())
}

// noSecrets replaces a decrypter if the secrets are not shown.
type noSecrets struct{}

// Decrypt returns a JSON text, as each secret in a plan is one.
func (noSecrets) Decrypt(context.Context, string) (string, error) { return `"[secret]"`, nil }

// pickDrawn finds the one resource that a text names.
func pickDrawn(d *diagram.Diagram, text string) (urn.URN, error) {
	found := d.Named(text)
	if len(found) == 1 {
		return found[0], nil
	}
	says, list := fmt.Sprintf("%q names %d resources; give the URN of one:", text, len(found)), found
	if len(found) == 0 {
		says, list = fmt.Sprintf("there is no resource %q", text), state.NearURNs(d.URNs(), text)
		if len(list) > 0 {
			says += "; there are:"
		}
	}
	const most = 20
	for _, u := range list[:min(most, len(list))] {
		says += "\n  " + format.ShellQuote(format.Printable(string(u)))
	}
	if more := len(list) - most; more > 0 {
		says += fmt.Sprintf("\n  and %d more", more)
	}
	return "", exit.Usagef("%s", says)
}

// renderGraph writes a graph in one of the forms. The note describes the part that is left out.
func renderGraph(ctx context.Context, d *diagram.Diagram, form string, o diagram.Options) (content []byte, note string, err error) {
	if form == formJSON {
		content, err = d.JSON()
		return content, "", err
	}
	drawing := d.Draw(o)
	note = tooMuch(d, drawing)
	switch form {
	case formSVG:
		content, err = drawing.SVG(ctx)
	case formPNG:
		content, err = drawing.PNG(ctx)
	case formMermaid:
		content = []byte(drawing.Mermaid())
	default:
		content = []byte(drawing.DOT())
	}
	return content, note, err
}

// tooMuch describes the part of a graph that its drawing leaves out; "" if there is none.
func tooMuch(d *diagram.Diagram, drawn *diagram.Drawing) string {
	var what string
	switch {
	case drawn.Merged != "" && drawn.Open != "":
		what = fmt.Sprintf("those of the same %s are one, except %s", drawn.Merged, drawn.Open)
	case drawn.Merged != "":
		what = fmt.Sprintf("those of the same %s are one", drawn.Merged)
	case drawn.Collapsed:
		what = "a component is one"
	default:
		return ""
	}
	return fmt.Sprintf("%s are drawn as %s, where %s: --limit 0 draws each resource, --around NAME shows one with its neighbours",
		format.Resources(len(d.Nodes)), format.Plural(drawn.Boxes(), "box", "boxes"), what)
}
