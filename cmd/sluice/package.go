package main

import (
	"context"
	"errors"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/packages"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
)

func newPackageCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "package",
		Short: "Add packages to projects, and inspect them",
		Long: "Add packages to projects, and inspect them.\n\n" +
			"SOURCE is the name of a plugin, with a version if you like (random@4.0.0), a package of the project, the folder or\n" +
			"the executable of a plugin, or a file with a schema in JSON or YAML. Missing plugins are installed. Parameters are\n" +
			"passed to the plugin; write them after \"--\" if they begin with \"-\". From these parameters, the plugin generates a\n" +
			"package that replaces its own. From those of --extension, it generates one that extends its own.",
		Args: exactArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPackageAddCommand(t), newPackageSchemaCommand(t), newPackageSDKCommand(t), newPackageInfoCommand(t), newPackageNewCommand(t),
		newPackageMappingCommand(t))
	upload := "The package manager of its language can publish the SDK that `sluice package gen-sdk` has written"
	for _, other := range newHostedCommands(
		hosted{name: "publish", short: "Publish a package in the registry of the hosted service", instead: "`sluice package add` takes a plugin from a folder, and from the server that --server names"},
		hosted{name: "remove", aliases: []string{"rm", "delete"}, short: "Delete a package from the registry of the hosted service", instead: "`sluice plugin rm` removes an installed plugin"},
		hosted{name: "publish-sdk", short: "Publish an SDK", because: "Sluice does not publish SDKs", instead: upload},
		hosted{name: "pack-sdk", short: "Pack an SDK for publication", because: "Sluice does not pack SDKs", instead: upload},
	) {
		other.Hidden = true
		cmd.AddCommand(other)
	}
	return cmd
}

// packageFlags are the flags of the commands that read packages.
type packageFlags struct {
	server    string
	extension quotedWords
	prepares  bool // install dependencies of the source before reading it; not a flag
}

func (f *packageFlags) add(cmd *cobra.Command) {
	f.addServer(cmd)
	cmd.Flags().Var(&f.extension, "extension", "parameters of a package that extends the one of the plugin, in one argument")
}

func (f *packageFlags) addServer(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.server, "server", "", "the URL where a missing plugin comes from")
}

// quotedWords is a flag with several words in one argument, quoted as for a shell.
type quotedWords []string

func (w *quotedWords) String() string { return shellquote.Join(*w...) }
func (*quotedWords) Type() string     { return "string" }

func (w *quotedWords) Set(text string) error {
	list, err := shellquote.Split(text)
	if err == nil && len(list) == 0 {
		err = errors.New("write at least one word")
	}
	*w = list
	return err
}

// parameters returns the parameters after the source or of --extension.
func (f packageFlags) parameters(after []string) (packages.Parameters, error) {
	if f.extension == nil {
		return packages.Parameters{List: after}, nil
	}
	if len(after) > 0 {
		return packages.Parameters{}, exit.Usagef("the parameters %q and --extension cannot be used together: a package takes the place of the "+
			"plugin's own, or extends it", strings.Join(after, " "))
	}
	return packages.Parameters{List: f.extension, Extends: true}, nil
}

// read reads a package. args are its source and its parameters.
func (f packageFlags) read(ctx context.Context, t *terminal.Terminal, args []string, use func(*packages.Reader, *packages.Package) error) error {
	of, err := f.parameters(args[1:])
	if err != nil {
		return err
	}
	r, err := packages.NewReader(t)
	if err != nil {
		return err
	}
	r.Prepares = f.prepares
	p, err := r.Read(ctx, args[0], of, f.server)
	if err != nil {
		return err
	}
	return use(r, p)
}
