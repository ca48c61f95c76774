package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/internal/text/similar"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

func newPluginCommand(open *session.Opener) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "plugin",
		Aliases: []string{"plugins"},
		Short:   "Install, list, remove and run plugins",
		Long: "Install, list, remove and run plugins: programs that serve providers, run languages and policy packs, and convert\n" +
			"programs. They are in the folder plugins of $PULUMI_HOME, which Pulumi uses too.\n\n" +
			"Operations install missing plugins, unless PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION is true.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPluginInstallCommand(open.Terminal), newPluginListCommand(open.Terminal), newPluginRemoveCommand(open.Terminal),
		newPluginRunCommand(open.Terminal))
	return cmd
}

// kindOf parses the argument KIND of a command on plugins. If the argument is the name of a plugin, the error suggests the right
// form.
func kindOf(cmd *cobra.Command, args []string) (plugin.Kind, error) {
	kind, err := pluginKind(args[0])
	if err == nil || similar.Name(args[0], pluginKinds()) != "" || urn.CheckPluginName(args[0]) != nil && !strings.Contains(args[0], "/") {
		return kind, err
	}
	return kind, exit.Usagef("%w\nIf it is the name of a provider's plugin, run `%s resource %s`", err, cmd.CommandPath(), strings.Join(args, " "))
}

// pluginKind parses the argument KIND.
func pluginKind(text string) (plugin.Kind, error) {
	for _, k := range pluginKinds() {
		if text == k {
			return plugin.Kind(k), nil
		}
	}
	if near := similar.Name(text, pluginKinds()); near != "" {
		return "", exit.Usagef("unknown kind of plugin %q; did you mean %s?", text, near)
	}
	return "", exit.Usagef("unknown kind of plugin %q: write resource, language, analyzer, converter or tool", text)
}

// pluginKinds lists the kinds of plugins.
func pluginKinds() []string {
	return []string{string(plugin.Resource), string(plugin.Language), string(plugin.Analyzer), string(plugin.Converter), string(plugin.Tool)}
}
