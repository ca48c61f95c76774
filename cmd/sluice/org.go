package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

func newOrgCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "org",
		Short: "Show and choose the organization of stacks that are named without one",
		Long: "Show the default organization at a service, for stacks that are named without an organization. The commands below\n" +
			"choose it. A self-managed backend has only one, named \"organization\".",
		Args: rangeArgs(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return showOrganization(cmd.Context(), t) },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "get-default", Short: "Print the organization", Args: exactArgs(0),
			RunE: func(cmd *cobra.Command, _ []string) error { return getOrganization(cmd.Context(), t) },
		},
		&cobra.Command{
			Use: "set-default <name>", Short: "Choose the organization", Args: exactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error { return setOrganization(cmd.Context(), t, args[0]) },
		})
	return cmd
}

// showOrganization prints the backend and the organization.
func showOrganization(ctx context.Context, t *terminal.Terminal) error {
	url, name, err := organization(ctx, t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "Current Backend: %s\nDefault Org: %s\n", backend.MaskURL(url), name)
	return err
}

// getOrganization prints the organization.
func getOrganization(ctx context.Context, t *terminal.Terminal) error {
	_, name, err := organization(ctx, t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(t.Out, name)
	return err
}

// organization returns the backend, and its default organization.
func organization(ctx context.Context, t *terminal.Terminal) (url, name string, err error) {
	if url, err = session.BackendURL(t.Lookup); err != nil || !service.Handles(url) {
		return url, backend.Organization, err
	}
	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: url, LookupEnv: t.Lookup, Note: t.WarnWith})
	if err != nil {
		return "", "", err
	}
	if name = b.Organization(); name == "" {
		err = errors.New("the service does not say which organization is the default one; choose one with `sluice org set-default NAME`")
	}
	return url, name, errors.Join(err, b.Close())
}

func setOrganization(ctx context.Context, t *terminal.Terminal, name string) error {
	url, err := session.BackendURL(t.Lookup)
	if err != nil {
		return err
	}
	if !service.Handles(url) {
		return exit.Usagef("%s is not a service: its only organization is %q", backend.MaskURL(url), backend.Organization)
	}
	who, err := session.IdentityAt(ctx, t, url)
	if err != nil {
		return err
	}
	if !slices.Contains(who.Organizations, name) {
		return exit.Usagef("%s belongs to no organization %q at %s, but to %s", who.User, name, who.URL, strings.Join(who.Organizations, ", "))
	}
	home, err := workspace.Home(t.Lookup)
	if err != nil {
		return err
	}
	if err := workspace.NewConfig(home).SetDefaultOrganization(service.Address(url), name); err != nil {
		return err
	}
	if set := t.Env(service.EnvOrganization); set != "" && set != name {
		t.Warn("%s=%s takes precedence", service.EnvOrganization, format.Printable(set))
	}
	return nil
}
