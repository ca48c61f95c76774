package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newWhoamiCommand(t *terminal.Terminal) *cobra.Command {
	var verbose, asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Print the user and the backend",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return whoami(cmd.Context(), t, verbose, asJSON) },
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print the backend")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

func whoami(ctx context.Context, t *terminal.Terminal, verbose, asJSON bool) error {
	url, err := session.BackendURL(t.Lookup)
	if err != nil {
		return err
	}
	who, err := session.IdentityAt(ctx, t, url)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return format.JSON(t.Data(), who)
	case verbose:
		organizations := ""
		if len(who.Organizations) > 0 {
			organizations = "Organizations: " + strings.Join(who.Organizations, ", ") + "\n"
		}
		_, err = fmt.Fprintf(t.Out, "User: %s\n%sBackend URL: %s\n", who.User, organizations, who.URL)
	default:
		_, err = fmt.Fprintln(t.Out, who.User)
	}
	return err
}
