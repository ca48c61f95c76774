package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/newproject"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/state/backend"
)

func newPolicyCommand(open *session.Opener) *cobra.Command {
	t := open.Terminal
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Create policy packs, install their dependencies, and check recorded states",
		Long: "Create policy packs, install their dependencies, and check recorded states against them. To check a program\n" +
			"against a policy pack in a folder, use --policy-pack FOLDER with `sluice preview` and `sluice up`; you need not publish the pack.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyNewCommand(t), newPolicyInstallCommand(open), newPolicyAnalyzeCommand(open))
	folder := "`sluice preview --policy-pack FOLDER` and `sluice up --policy-pack FOLDER` use a policy pack from its folder"
	cmd.AddCommand(newHostedCommands(
		hosted{name: "ls", aliases: []string{"list"}, short: "List the policy packs of an organization of the hosted service", instead: folder},
		hosted{name: "publish", short: "Publish a policy pack to an organization of the hosted service", instead: folder},
		hosted{name: "enable", short: "Enable a policy pack for an organization of the hosted service", instead: folder},
		hosted{name: "disable", short: "Disable a policy pack for an organization of the hosted service", instead: folder},
		hosted{name: "rm", aliases: []string{"remove"}, short: "Remove a policy pack from an organization of the hosted service", instead: folder},
		hosted{name: "group", short: "Manage groups of stacks that policy packs are enabled for in the hosted service", instead: folder},
		hosted{
			name: "validate-config", short: "Check the configuration of a policy pack in the hosted service",
			instead: "`sluice preview --policy-pack FOLDER --policy-pack-config FILE` checks the configuration before the program starts",
		},
	)...)
	return cmd
}

func newPolicyNewCommand(t *terminal.Terminal) *cobra.Command {
	var o newproject.PolicyOptions
	cmd := &cobra.Command{
		Use:     "new [TEMPLATE]",
		Aliases: []string{"create", "setup"},
		Short:   "Create a policy pack from a template",
		Long: "Make a policy pack from a template in an empty directory, and install what it needs. The templates typescript and\n" +
			"python come with sluice. A folder with a PulumiPolicy.yaml is a template, too: ${PROJECT} in its files is replaced\n" +
			"by the name of the new folder. Templates are not downloaded.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Template = args[0]
			}
			return newproject.NewPolicyPack(cmd.Context(), t, o)
		},
	}
	p := cmd.Flags()
	p.StringVar(&o.Directory, "dir", "", "the folder of the policy pack; created if necessary (default the current directory)")
	flags.AddRuntimeOptions(p, &o.RuntimeOptions)
	p.BoolVarP(&o.Force, "force", "f", false, "write into a directory that is not empty, and overwrite existing files")
	p.BoolVarP(&o.GenerateOnly, "generate-only", "g", false, "only write the files: install nothing")
	p.BoolP("offline", "o", false, "accepted for scripts: templates are never downloaded")
	p.Lookup("offline").Hidden = true
	return cmd
}

func newPolicyInstallCommand(open *session.Opener) *cobra.Command {
	var stack string
	cmd := &cobra.Command{
		Use:   "install [FOLDER]",
		Short: "Install the policy packs that a stack requires, or the dependencies of a pack",
		Long: "Install what the policy pack in a folder needs, with the package manager of its language. Without a folder, and unless the current one\n" +
			"has a policy pack, fetch and install the policy packs that Pulumi's service requires of a stack. An operation does the same when it\n" +
			"needs them.",
		Args: rangeArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				if stack != "" {
					return exit.Usagef("--stack and a folder cannot be used together")
				}
				folder = args[0]
			} else if _, err := os.Stat(plugin.PolicyManifest); stack != "" || errors.Is(err, fs.ErrNotExist) {
				return installRequired(cmd.Context(), open, stack)
			}
			directory, err := filepath.Abs(folder)
			if err != nil {
				return err
			}
			return newproject.InstallPolicyPack(cmd.Context(), open.Terminal, directory)
		},
	}
	flags.AddStack(cmd.Flags(), &stack)
	return cmd
}

// installRequired downloads and installs the policy packs that a stack is checked against.
func installRequired(ctx context.Context, open *session.Opener, name string) error {
	t := open.Terminal
	s, err := open.AnyStack(ctx, name, "")
	if errors.Is(err, workspace.ErrNoProject) {
		return exit.Usagef("there is no %s here, and no project: name a folder, or a stack with --stack", plugin.PolicyManifest)
	}
	if err != nil {
		return err
	}
	var packs []backend.RequiredPolicy
	if r, requires := s.State.(backend.Requirer); requires {
		if packs, err = r.RequiredPolicies(ctx); err != nil {
			return err
		}
	}
	if len(packs) == 0 {
		_, err := fmt.Fprintf(t.Err, "No policy packs to install for stack %s\n", s.Name())
		return err
	}
	options := host.PluginOptions{Home: s.Session.Home, LookupEnv: t.Lookup, Note: t.WarnWith, Log: t.Log}
	for _, p := range packs {
		if _, err := host.OpenRequiredPolicyPack(ctx, s.Ref.Organization(), p, nil, options); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(t.Err, "Installed the policy packs that stack %s is held to: %d\n", s.Name(), len(packs))
	return err
}
