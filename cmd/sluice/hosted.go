package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// hosted is a command of Pulumi's hosted service, or another one that sluice does not have. It explains the command and what to do
// instead.
type hosted struct {
	name    string
	aliases []string
	short   string // what the command does in Pulumi
	because string // why it is missing here; "" means that it needs the hosted service
	instead string // the alternative here: whole sentences without the last full stop
}

// hostedAnnotation marks the commands that only explain what they are.
const hostedAnnotation = "hosted"

// newHostedCommands returns commands that print an explanation and fail, whatever their arguments.
func newHostedCommands(list ...hosted) []*cobra.Command {
	var out []*cobra.Command
	for _, h := range list {
		because := cmp.Or(h.because, "Sluice does not have this feature of Pulumi's hosted service")
		cmd := &cobra.Command{
			Use: h.name, Aliases: h.aliases, Short: h.short, Long: h.short + ".\n\n" + because + ". " + h.instead + ".",
			Annotations: map[string]string{hostedAnnotation: "true"}, DisableFlagParsing: true, ValidArgsFunction: cobra.NoFileCompletions,
		}
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			return exit.Usagef("`%s`: %s\n%s", cmd.CommandPath(), because, h.instead)
		}
		out = append(out, cmd)
	}
	return out
}

// newServiceCommands returns the commands of the hosted service that help lists beside those of sluice.
func newServiceCommands() []*cobra.Command {
	return newHostedCommands(
		hosted{
			name: "console", short: "Open the page of a stack in the hosted service",
			instead: "`sluice stack` shows a stack, `sluice stack history` what has been done to it, and `sluice why` what was decided about a resource",
		},
		hosted{
			name: "deployment", short: "Run operations on the machines of the hosted service",
			instead: "`sluice up --yes` does the same in a job of your own CI",
		},
		hosted{
			name: "env", aliases: []string{"esc"}, short: "Manage environments of settings and secrets in the hosted service",
			instead: "`sluice config set` and `sluice config set --secret` keep settings and secrets of a stack, and `sluice config cp` copies them to another one",
		},
	)
}

// newHiddenServiceCommands returns the commands of the hosted service that scripts hardly use, and that help hides.
func newHiddenServiceCommands() []*cobra.Command {
	look := "`sluice --help` lists what there is"
	list := newHostedCommands(
		hosted{name: "api", short: "Call the interface of the hosted service", instead: look},
		hosted{name: "insights", short: "Search resources in the hosted service", instead: "`sluice stack --json` lists those of a stack"},
		hosted{name: "template", short: "Publish templates in the hosted service", instead: "`sluice new` accepts any folder as a template"},
		hosted{name: "neo", aliases: []string{"ai"}, short: "Ask the assistant of the hosted service", instead: look},
	)
	for _, cmd := range list {
		cmd.Hidden = true
	}
	return list
}

// newStackServiceCommands returns the commands on stacks that only the hosted service has.
func newStackServiceCommands() []*cobra.Command {
	job := "A job of your own CI can run `sluice refresh --preview-only --expect-no-changes` or `sluice up --yes` when you want"
	list := newHostedCommands(
		hosted{name: "schedule", short: "Run operations at fixed times in the hosted service", instead: job},
		hosted{name: "drift", short: "Look for drift in the hosted service", instead: job},
		hosted{name: "webhook", short: "Have the hosted service call URLs", instead: job},
	)
	for _, cmd := range list {
		cmd.Hidden = true
	}
	return list
}
