package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/converter"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/fleet/watch"
	"github.com/sluice-iac/sluice/internal/text/manual"
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
	var named string
	cmd := &cobra.Command{
		Use: "seal", Short: "Encrypt an approval for a signal to a run", Args: arguments(0, 0),
		Long: "Read an approval as JSON from the standard input, encrypt it with the key of the fleet, and print it as the input of a signal for\n" +
			"Temporal's API. Other programs approve in this way, see docs/fleet.md.\n\n" +
			"The approval is of what the stack waits for now: sent again, or to another run, it has no effect. If the JSON has a plan, it is an\n" +
			"error if the stack waits with another one.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var d run.Decision
			if err := json.NewDecoder(io.LimitReader(input(), mostDecision)).Decode(&d); err != nil {
				return usagef("the standard input is not an approval as JSON: %v", err)
			}
			if d.Stack == "" || d.By == "" {
				return usagef(`an approval names the stack and who decides: {"stack": "web", "granted": true, "by": "ada"}`)
			}
			var one []string
			if named != "" {
				one = []string{named}
			}
			return onRun(g, true, func(ctx context.Context, s *session, id string) error { return printSealed(ctx, s, id, d) })(cmd, one)
		},
	}
	cmd.Flags().StringVar(&named, "run", "", "the run; the newest that goes on if not given")
	return cmd
}

// mostDecision limits the size of an approval in bytes.
const mostDecision = 1 << 20

// printSealed prints a decision about a waiting stack in sealed form, for a signal to the run.
func printSealed(ctx context.Context, s *session, id string, d run.Decision) error {
	now, err := s.client.See(ctx, id)
	if err != nil {
		return err
	}
	is, waits := waitingIn(now)[d.Stack]
	switch {
	case !waits:
		return fmt.Errorf("%s does not wait to be approved in the run %s", d.Stack, id)
	case d.Plan != "" && d.Plan != is.Plan:
		return fmt.Errorf("%s waits with the plan %s, not %s", d.Stack, is.Plan, d.Plan)
	}
	to := converter.WorkflowSerializationContext{Namespace: s.client.Namespace, WorkflowID: id}
	payloads, err := converter.WithDataConverterSerializationContext(s.client.Data, to).ToPayloads(watch.Decide(now, is, d.Approval))
	if err != nil {
		return err
	}
	text, err := protojson.Marshal(payloads)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(exact(), string(text))
	return err
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

// newServer returns the command by which other commands start the server of a fleet.
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
