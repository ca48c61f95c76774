package main

import (
	"fmt"

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
		Short: "Print who you are, and where state is kept",
		Args:  exactArgs(0),
		RunE:  func(*cobra.Command, []string) error { return whoami(t, verbose, asJSON) },
	}
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "also print the backend")
	flags.AddJSON(cmd.Flags(), &asJSON, "write JSON")
	return cmd
}

func whoami(t *terminal.Terminal, verbose, asJSON bool) error {
	url, err := session.BackendURL(t.Lookup)
	if err != nil {
		return err
	}
	who := session.IdentityAt(url)
	switch {
	case asJSON:
		return format.JSON(t.Out, who)
	case verbose:
		_, err = fmt.Fprintf(t.Out, "User: %s\nBackend URL: %s\n", who.User, who.URL)
	default:
		_, err = fmt.Fprintln(t.Out, who.User)
	}
	return err
}
