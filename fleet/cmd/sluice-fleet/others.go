package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/internal/manual"
)

func newKey(*global) *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use: "key", Short: "Make a key that encrypts the data on a Temporal server", Args: arguments(0, 0),
		Long: "Print a new key. Commands and workers with --address need the same one, in " + seal.Variable + " or in the file that\n" +
			seal.FileVariable + " names. A fleet with a server of its own has a key in its folder.\n\n" +
			"With --secrets-provider, print the key in the form of fleet.yaml: encrypted with the passphrase in SLUICE_CONFIG_PASSPHRASE, or by a key\n" +
			"service. Anybody who can decrypt it can work for the fleet.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if provider == "" {
				_, err := fmt.Fprintln(exact(), seal.NewKey())
				return err
			}
			w, err := seal.Wrap(cmd.Context(), os.LookupEnv, provider)
			if err != nil {
				return usagef("%v", err)
			}
			enc := yaml.NewEncoder(exact())
			enc.SetIndent(2)
			return enc.Encode(map[string]spec.KeyEntry{"key": spec.KeyEntry(w)})
		},
	}
	cmd.Flags().StringVar(&provider, "secrets-provider", "", "what encrypts the key: passphrase, or the `URL` of a key service: awskms, azurekeyvault, gcpkms, hashivault")
	return cmd
}

func newSeal(g *global) *cobra.Command {
	return &cobra.Command{
		Use: "seal", Short: "Encrypt JSON for a signal to a run", Args: arguments(0, 0),
		Long: "Read JSON from the standard input, encrypt it with the key of the fleet, and print it as the input of a signal for Temporal's API.\n" +
			"Other programs approve in this way, see docs/fleet.md.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := g.read()
			if err != nil {
				return err
			}
			s := &session{global: g, fleet: f}
			if s.home, err = server.HomeOf(f.Root); err != nil {
				return err
			}
			key, err := s.key(cmd.Context())
			if err != nil {
				return err
			}
			var value any
			if err := json.NewDecoder(input()).Decode(&value); err != nil {
				return usagef("the standard input is not JSON: %v", err)
			}
			data, _, err := seal.Converters(key)
			if err != nil {
				return err
			}
			payloads, err := data.ToPayloads(value)
			if err != nil {
				return err
			}
			text, err := protojson.Marshal(payloads)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(exact(), string(text))
			return err
		},
	}
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use: "schema", Short: "Print the JSON schema of fleet.yaml", Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := exact().Write(spec.Schema())
			return err
		},
	}
}

func newGenMan() *cobra.Command {
	return &cobra.Command{
		Use: "gen-man DIRECTORY", Short: "Write man pages, one for each command", Args: arguments(1, 1), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return manual.Man(exact(), newRootAs("sluice fleet"), "sluice-fleet", args[0])
		},
	}
}

// newServer returns the command by which others start the server of a fleet.
func newServer() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use: "server", Short: "Run the server of a fleet until nobody uses it", Args: arguments(0, 0), Hidden: true,
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
