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
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

type drawFlags struct {
	stack, format, out, plan, around string
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
		Use:   "graph",
		Short: "Draw the resources of a stack or of a plan, and their dependencies",
		Long: "Draw the resources of a stack and their dependencies. An arrow runs from a resource to one that needs it, so the\n" +
			"resources that are created first are on the left.\n\n" +
			"With --plan FILE, written by `preview --save-plan FILE`, changes are marked and coloured, and resources to be created\n" +
			"are included. With --waves, resources that a destroy would delete at the same time are drawn below each other; wave 1\n" +
			"is deleted first.\n\n" +
			"A component is one box together with its children; --expand draws the children. Many similar resources share a box\n" +
			"that names them. If there are more boxes than --limit, other resources share boxes too, and a note says so. JSON\n" +
			"always contains every resource.\n\n" +
			"--around shows one resource, what it needs and what needs it, up to --depth steps away, with components expanded.\n\n" +
			"The extension of --out (.svg, .png, .dot, .mmd, .json) or --format chooses the format. The default is DOT, the\n" +
			"language of Graphviz.",
		Example: "  sluice graph --out stack.svg\n  sluice preview --save-plan plan.json && sluice graph --plan plan.json --out plan.svg\n" +
			"  sluice graph --around web --depth 1 --format mermaid",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return drawGraph(cmd.Context(), open, f)
		},
	}
	p := cmd.Flags()
	flags.AddStack(p, &f.stack)
	p.StringVarP(&f.out, "out", "o", "", "write this file")
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
	form, err := f.form()
	if err != nil {
		return err
	}
	if err := f.check(form, open.Terminal.OutTerminal); err != nil {
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
	content, note, err := renderGraph(ctx, d, form, diagram.Options{Expand: f.expand || f.around != "", Limit: f.limit})
	if err != nil {
		return err
	}
	if note != "" {
		open.Terminal.Warn("%s", note)
	}
	if f.out == "" || f.out == "-" {
		_, err := open.Terminal.Data().Write(content)
		return err
	}
	if err := os.WriteFile(f.out, content, 0o666); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	_, err = fmt.Fprintf(open.Terminal.Out, "Wrote the graph to %s\n", f.out)
	return err
}

// form returns the form that the flags select.
func (f *drawFlags) form() (string, error) {
	forms := []string{formSVG, formPNG, formDOT, formMermaid, formJSON}
	ending := strings.ToLower(filepath.Ext(f.out))
	switch {
	case slices.Contains(forms, f.format):
		return f.format, nil
	case f.format != "":
		return "", exit.Usagef("--format is svg, png, dot, mermaid or json, not %q", f.format)
	case formEndings[ending] != "":
		return formEndings[ending], nil
	case f.out != "" && f.out != "-":
		return "", exit.Usagef("the ending of %q does not say which form the graph is to have: use .svg, .png, .dot, .mmd or .json, or --format", f.out)
	}
	return formDOT, nil
}

func (f *drawFlags) check(form string, terminal bool) error {
	switch {
	case f.plan != "" && f.waves:
		return exit.Usagef("--plan and --waves exclude each other: waves are those of a destroy")
	case f.depth < 0:
		return exit.Usagef("--depth is a number of steps, 0 or more, not %d", f.depth)
	case f.limit < 0:
		return exit.Usagef("--limit is a number of boxes, or 0 for no limit, not %d", f.limit)
	case terminal && (f.out == "" || f.out == "-") && (form == formPNG || form == formSVG):
		return exit.Usagef("a terminal does not show %s: write a file with --out graph.%s", strings.ToUpper(form), form)
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
