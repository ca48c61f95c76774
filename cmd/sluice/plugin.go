package main

import (
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/providers/plugin"
)

func newPluginCommand(open *session.Opener) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Aliases: []string{"plugins"},
		Short:   "Install, list, remove and run plugins",
		Long: "Install, list, remove and run plugins: the programs that serve providers, run languages and policy packs, and\n" +
			"convert. They are in the folder plugins of $PULUMI_HOME, where other tools that use it find them too.\n\n" +
			"An operation installs the plugins that it needs and that are missing, unless\n" +
			"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is true.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginInstallCommand(open.Terminal), newPluginListCommand(open.Terminal), newPluginRemoveCommand(open.Terminal),
		newPluginRunCommand(open.Terminal))
	return cmd
}

// pluginKind parses the argument KIND.
func pluginKind(text string) (plugin.Kind, error) {
	for _, k := range pluginKinds() {
		if text == k {
			return plugin.Kind(k), nil
		}
	}
	return "", exit.Usagef("%q is no kind of plugins: write resource, language, analyzer, converter or tool", text)
}

// pluginKinds lists the kinds of plugins.
func pluginKinds() []string {
	return []string{string(plugin.Resource), string(plugin.Language), string(plugin.Analyzer), string(plugin.Converter), string(plugin.Tool)}
}
