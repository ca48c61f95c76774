package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers"
)

func newPackageMappingCommand(t *terminal.Terminal) *cobra.Command {
	var f packageFlags
	var out string
	cmd := &cobra.Command{
		Use:   "get-mapping KEY SOURCE [PROVIDER [PARAMETER]...]",
		Short: "Print how the names of another tool correspond to those of a package",
		Long: "Print how the names of another tool correspond to those of a package, as the plugin says it to converters. KEY is the\n" +
			"tool, such as terraform, and PROVIDER a provider of that tool; without it, the first one that the plugin names.",
		Args: leastArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, req := cmd.Context(), providers.MappingRequest{Key: args[0]}
			var parameters []string
			if len(args) > 2 {
				req.Provider, parameters = args[2], args[3:]
			}
			r, err := packages.NewReader(t)
			if err != nil {
				return err
			}
			answer, err := r.Mapping(ctx, args[1], parameters, f.server, req)
			if err != nil {
				return err
			}
			if len(answer.Data) == 0 {
				return exit.Usagef("the plugin %s has no mapping for %q", args[1], req.Key)
			}
			if out != "" {
				return os.WriteFile(out, answer.Data, 0o666)
			}
			_, err = t.Data().Write(answer.Data)
			return err
		},
	}
	f.addServer(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to this file instead")
	return cmd
}
