package main

import (
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/direct"
	"github.com/sluice-iac/sluice/internal/text/printable"
)

// describeMember describes what the token names: what a package or a module has, or what a resource or a function takes and gives.
func describeMember(d *doing) error {
	var b strings.Builder
	command := d.cmd.CommandPath()
	switch m := d.member; {
	case m.Function != nil:
		fmt.Fprintf(&b, "%s is a function of the package %s.\n", m.Function.Token, d.schema.Name)
		paragraph(&b, m.Function.Description)
		fmt.Fprintf(&b, "\nUsage: %s %s [flags]\n", command, d.token)
		flagsText(d, &b, "Inputs")
	case m.Resource != nil:
		fmt.Fprintf(&b, "%s is a type of resources of the package %s.\n", m.Resource.Token, d.schema.Name)
		paragraph(&b, m.Resource.Description)
		fmt.Fprintf(&b, "\nUsage:\n  %[1]s %[2]s create --stateless [flags]\n  %[1]s %[2]s read ID\n", command, d.token)
		fmt.Fprintf(&b, "  %[1]s %[2]s patch ID --stateless [flags]\n  %[1]s %[2]s upsert ID --stateless [flags]\n", command, d.token)
		fmt.Fprintf(&b, "  %[1]s %[2]s delete ID --stateless\n", command, d.token)
		if _, can := m.Resource.Queries(); can {
			fmt.Fprintf(&b, "  %s %s list [--all|--count N] [flags]\n", command, d.token)
		}
		flagsText(d, &b, "Inputs")
	default:
		if len(d.words) > 0 && !strings.Contains(d.token, ":") {
			paragraph(&b, d.schema.Description)
		}
		listText(d, &b, m.Module)
	}
	_, err := fmt.Fprint(d.open.Terminal.Out, b.String())
	return err
}

// paragraph writes the first paragraph of a description.
func paragraph(b *strings.Builder, description string) {
	if text := direct.Summary(description); text != "" {
		fmt.Fprintf(b, "%s\n", printable.Line(text))
	}
}

// listText writes tokens, functions before resources.
func listText(d *doing, b *strings.Builder, tokens []string) {
	var functions, resources []string
	for _, token := range tokens {
		switch r := d.schema.Resources[token]; {
		case r == nil:
			functions = append(functions, direct.Short(token))
		case !r.IsComponent:
			resources = append(resources, direct.Short(token))
		}
	}
	for _, part := range []struct {
		title string
		list  []string
	}{{"Functions", functions}, {"Resources", resources}} {
		if len(part.list) > 0 {
			fmt.Fprintf(b, "%s:\n    %s\n", part.title, strings.Join(part.list, "\n    "))
		}
	}
	hint := ""
	if d.flags.pkg != "" {
		hint = " --package " + quoted(d.flags.pkg)
	}
	fmt.Fprintf(b, "`%s TOKEN%s --help` describes one.\n", d.cmd.CommandPath(), hint)
}

// flagsText writes the flags of the inputs and of the settings of the provider.
func flagsText(d *doing, b *strings.Builder, title string) {
	inputs, config := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	d.set.VisitAll(func(f *pflag.Flag) {
		switch {
		case d.cmd.Flags().Lookup(f.Name) != nil:
		case strings.HasPrefix(f.Name, d.schema.Name+":"):
			config.AddFlag(f)
		default:
			inputs.AddFlag(f)
		}
	})
	for _, part := range []struct {
		title string
		set   *pflag.FlagSet
	}{{title, inputs}, {"Settings of the provider", config}} {
		if text := part.set.FlagUsagesWrapped(120); text != "" {
			fmt.Fprintf(b, "\n%s:\n%s", part.title, text)
		}
	}
	fmt.Fprintf(b, "\n`%s --help` describes the other flags.\n", d.cmd.CommandPath())
}

// quoted quotes a word for a shell.
func quoted(word string) string { return shellquote.Join(word) }
