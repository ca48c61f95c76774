package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/plugins"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
)

// installFlags are the flags of `plugin install`.
type installFlags struct {
	file, server, checksum string
	exact, reinstall       bool
	parallel               int
}

func newPluginInstallCommand(t *terminal.Terminal) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install [KIND NAME|REPOSITORY[@VERSION] [VERSION]]",
		Short: "Install a plugin, or those that the project needs",
		Long: "Install a plugin, or all plugins that the program of this directory needs. Without a version, the latest is installed.\n" +
			"A plugin is not installed if the same version is installed already, or, without --exact, a newer one.\n\n" +
			"A plugin in source form may be in a git repository. Give the address of the repository, followed by the folder of the\n" +
			"plugin if it is not at the top. A version may be the hash of a commit. The dependencies of the plugin are installed, too.\n\n" +
			"An interrupted download continues where it stopped. SLUICE_PLUGIN_MIRROR names a folder or a URL with the archives of\n" +
			"all plugins. PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES names other sources for some.",
		Example: "  sluice plugin install\n  sluice plugin install resource aws 7.1.0\n" +
			"  sluice plugin install resource thing 1.2.3 --server https://plugins.example.com/thing\n" +
			"  sluice plugin install resource github.com/example/things/shop@1.2.3\n" +
			"  sluice plugin install resource thing 1.2.3 --file pulumi-resource-thing-v1.2.3-linux-amd64.tar.gz",
		Args: rangeArgs(0, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			places, err := plugins.Find(t)
			if err != nil {
				return err
			}
			places.Parallel = f.parallel
			if len(args) == 0 {
				return installNeeded(cmd.Context(), places, f)
			}
			kind, err := kindOf(cmd, args)
			if err != nil {
				return err
			}
			return installNamed(cmd.Context(), places, kind, args, f)
		},
	}
	cmd.Flags().BoolVar(&f.exact, "exact", false, "install the version even if a newer one is installed")
	cmd.Flags().BoolVar(&f.reinstall, "reinstall", false, "install the plugin again")
	cmd.Flags().StringVarP(&f.file, "file", "f", "", "install this archive, executable or folder")
	cmd.Flags().StringVar(&f.server, "server", "", "the URL where the plugin comes from")
	cmd.Flags().IntVar(&f.parallel, "parallel", plugins.Parallel, "how many plugins are installed at once; 0 or less is all of them")
	cmd.Flags().StringVar(&f.checksum, "checksum", "", "the SHA-256 checksum that the archive must have, in hexadecimal digits")
	return cmd
}

// installNamed installs the plugin that the arguments name.
func installNamed(ctx context.Context, places *plugins.Places, kind plugin.Kind, args []string, f installFlags) error {
	if len(args) == 1 {
		return exit.Usagef("name the plugin too: `sluice plugin install %s NAME`", kind)
	}
	r := install.Request{Kind: kind, Name: args[1], Source: f.server, File: f.file, Reinstall: f.reinstall}
	if len(args) == 3 {
		r.Version = args[2]
	}
	server, version, err := plugin.ParsePackageSource(r.Name)
	switch {
	case errors.Is(err, plugin.ErrNoGitSource):
	case err != nil:
		return exit.AsUsage(err)
	case f.server != "" || f.file != "":
		return exit.Usagef("%s says where the plugin comes from; leave out --server and --file", r.Name)
	case version != "" && r.Version != "":
		return exit.Usagef("%s has a version; leave out %s", r.Name, r.Version)
	default:
		r.Source, r.Version = server, cmp.Or(version, r.Version)
		r.Name, _ = plugin.PluginOf(providers.Spec{DownloadURL: server})
	}
	switch {
	case f.file != "" && f.server != "":
		return exit.Usagef("only one of --file and --server may be given")
	case f.file != "" && r.Version == "":
		return exit.Usagef("--file needs the version of the plugin: `sluice plugin install %s %s VERSION --file %s`", kind, r.Name, f.file)
	}
	if r.Version != "" && !strings.HasPrefix(r.Source, plugin.GitScheme) {
		if _, err := semver.NewVersion(r.Version); err != nil {
			return exit.Usagef("%q is not a version such as 1.2.3", r.Version)
		}
	}
	if f.checksum != "" {
		sum, err := hex.DecodeString(f.checksum)
		if err != nil || len(sum) != sha256.Size {
			return exit.Usagef("--checksum %s: write the %d hexadecimal digits of a SHA-256 checksum", f.checksum, 2*sha256.Size)
		}
		r.Checksums = map[string][]byte{runtime.GOOS + "-" + runtime.GOARCH: sum}
	}
	newer := places.Newer(r)
	if newer != "" && newer != strings.TrimPrefix(r.Version, "v") && !f.exact && !f.reinstall && f.file == "" {
		fmt.Fprintf(places.Terminal.Err, "%s %s is installed in version %s, which is new enough; --exact installs %s\n", kind, r.Name, newer, r.Version)
		return nil
	}
	return places.Install(ctx, []install.Request{r})
}

// installNeeded installs the plugins that the program of the project needs.
func installNeeded(ctx context.Context, places *plugins.Places, f installFlags) error {
	if f.file != "" || f.server != "" || f.checksum != "" {
		return exit.Usagef("--file, --server and --checksum are for one plugin: name its kind and its name")
	}
	needs, err := places.Needed(ctx)
	if err != nil {
		return err
	}
	var requests []install.Request
	for _, n := range needs {
		switch {
		case n.Location != nil && !f.reinstall:
			fmt.Fprintf(places.Terminal.Err, "%s is there: %s\n", n.Title(), n.Location.Path())
		case n.Builtin:
			fmt.Fprintf(places.Terminal.Err, "%s is not needed: the provider is built in\n", n.Title())
		default:
			n.Reinstall = f.reinstall
			requests = append(requests, n.Request)
		}
	}
	if len(needs) == 0 {
		fmt.Fprintln(places.Terminal.Err, "the program needs no plugins")
	}
	return places.Install(ctx, requests)
}
