package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
)

func newKey(*global) *cobra.Command {
	return &cobra.Command{
		Use: "key", Short: "Make a key for what a Temporal server keeps", Args: cobra.NoArgs,
		Long: "Print a new key. Commands and workers with --address need the same one, in " + seal.Variable + " or in the file that\n" +
			seal.FileVariable + " names. A fleet with a server of its own has a key in its folder.",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Println(seal.NewKey())
			return err
		},
	}
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of fleet.yaml", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := os.Stdout.Write(spec.Schema())
			return err
		},
	}
}

// newServer returns the command by which others start the server of a fleet.
func newServer() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use: "server", Short: "Run the server of a fleet until nobody uses it", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			h, err := server.HomeOf(root)
			if err != nil {
				return err
			}
			return server.Run(ctx, h)
		},
	}
	cmd.Flags().StringVar(&root, "data", ".", "the folder of the fleet")
	return cmd
}
