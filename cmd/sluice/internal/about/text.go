package about

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

// WriteJSON writes the report for programs. It returns an error if no stack is selected, because its readers expect a stack or an
// error.
func WriteJSON(t *terminal.Terminal, a *Report) error {
	if a.Project != nil && a.Stack == nil && !slices.ContainsFunc(a.Errors, func(e string) bool { return strings.HasPrefix(e, noStack) }) {
		a.Errors = append(a.Errors, noStack+": none is selected")
	}
	return format.JSON(t.Data(), a)
}

// Write writes the report for people. It prints errors as warnings.
func Write(t *terminal.Terminal, a *Report) error {
	var b strings.Builder
	section := func(title string, rows ...[2]string) {
		fmt.Fprintf(&b, "%s\n", title)
		width := 0
		for _, r := range rows {
			width = max(width, len([]rune(r[0])))
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "    %s\n", strings.TrimRight(fmt.Sprintf("%-*s  %s", width, r[0], format.Printable(r[1])), " "))
		}
	}
	tool := [][2]string{
		{"behaves as", "Pulumi " + a.CLI.PulumiVersion}, {"built for", a.Host.OS + "/" + a.Host.Arch},
		{"Go Version", a.CLI.GoVersion}, {"Go Compiler", a.CLI.GoCompiler}, // Pulumi's names, for people who look for them
	}
	if a.CLI.Commit != "" {
		tool = append(tool, [2]string{"built from", a.CLI.Commit})
	}
	section("sluice "+a.CLI.Version, tool...)
	section("Project", projectRows(a.Project)...)
	section("Stack", stackRows(a.Stack)...)
	section("Where things are", places(a)...)
	section("Programs", runtimeRows(a)...)
	section("Plugins", pluginRows(a)...)
	section("Built-in providers, used where no plugin is installed", [2]string{strings.Join(a.BuiltinProviders, ", ")})
	if len(a.Environment) > 0 {
		var rows [][2]string
		for _, name := range a.Environment {
			rows = append(rows, [2]string{name})
		}
		section("Variables that are set", rows...)
	}
	_, err := fmt.Fprint(t.Out, t.Named(b.String()))
	for _, e := range a.Errors {
		t.Warn("%s", e)
	}
	return err
}

func projectRows(p *projectReport) [][2]string {
	if p == nil {
		return [][2]string{{"none in this directory or above it"}}
	}
	rows := [][2]string{{"name", p.Name}, {"runtime", p.Runtime}, {"file", p.File}}
	if p.Description != "" {
		rows = append(rows, [2]string{"description", p.Description})
	}
	return rows
}

func stackRows(s *stackReport) [][2]string {
	if s == nil {
		return [][2]string{{"none is selected"}}
	}
	rows := [][2]string{{"name", s.Name}, {"resources", fmt.Sprint(len(s.Resources))}}
	if n := len(s.PendingOps); n > 0 {
		rows = append(rows, [2]string{"interrupted", fmt.Sprintf("%d, which `sluice recover` resolves", n)})
	}
	return rows
}

func places(a *Report) [][2]string {
	rows := [][2]string{{"home", a.Home}}
	if a.Backend != nil {
		rows = append(rows, [2]string{"backend", a.Backend.URL}, [2]string{"user", a.Backend.User})
	}
	return rows
}

func runtimeRows(a *Report) [][2]string {
	var rows [][2]string
	for _, r := range a.Runtimes {
		text := r.How
		switch r.How {
		case runsPlugin:
			text = "run by " + r.Executable
		case runsDirect:
			text = strings.TrimSpace("run by " + r.Executable + " " + r.Version)
		case runsNot:
			text = "cannot be run: there is no " + r.Missing
		}
		rows = append(rows, [2]string{r.Language, text})
		for _, t := range r.Tools {
			rows = append(rows, [2]string{"", strings.TrimSpace("with "+t.Name+" "+t.Version) + place(t.Path)})
		}
	}
	return rows
}

func pluginRows(a *Report) [][2]string {
	if len(a.Plugins) == 0 {
		return [][2]string{{"none"}}
	}
	var rows [][2]string
	for _, p := range a.Plugins {
		rows = append(rows, [2]string{strings.TrimSpace(p.Kind + " " + p.Name + " " + p.Version), p.Path})
	}
	return rows
}

func place(path string) string {
	if path == "" {
		return ""
	}
	return ", " + path
}
