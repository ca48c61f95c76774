package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/schemacheck"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/urn"
)

func newSchemaCommand(t *terminal.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Check the schemas of packages",
		Args:  exactArgs(0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dangling bool
	check := &cobra.Command{
		Use:   "check FILE|PACKAGE|FOLDER",
		Short: "Look for mistakes in the schema of a package",
		Long: "Look for mistakes in the schema of a package: names that are none, types that do not exist, references to nothing.\n" +
			"The schema is read from a file in JSON or YAML, from the standard input if it is \"-\", or asked of a provider, which is\n" +
			"named by its package, perhaps with a version as in random@4.0.0, or by the folder of its plugin.",
		Args: exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkSchema(cmd.Context(), t, args[0], dangling)
		},
	}
	check.Flags().BoolVar(&dangling, "allow-dangling-references", false, "references within the package may lead to nothing")
	cmd.AddCommand(check)
	return cmd
}

func checkSchema(ctx context.Context, t *terminal.Terminal, source string, dangling bool) error {
	text, err := readSchema(ctx, t, source)
	if err != nil {
		return err
	}
	problems, err := schemacheck.Check(text, dangling)
	if err != nil {
		return fmt.Errorf("%s is no schema: %w", source, err)
	}
	for _, p := range problems {
		fmt.Fprintf(t.Err, "error: %s\n", p)
	}
	switch n := len(problems); n {
	case 0:
		_, err = fmt.Fprintln(t.Out, "The schema has no mistakes")
		return err
	case 1:
		return errors.New("the schema has 1 mistake")
	default:
		return fmt.Errorf("the schema has %d mistakes", n)
	}
}

// readSchema returns a schema as JSON.
func readSchema(ctx context.Context, t *terminal.Terminal, source string) ([]byte, error) {
	switch extension := filepath.Ext(source); {
	case source == "-":
		return io.ReadAll(t.In)
	case extension == ".json":
		text, err := os.ReadFile(source)
		if err != nil {
			err = exit.AsUsage(err)
		}
		return text, err
	case extension == ".yaml" || extension == ".yml":
		text, err := os.ReadFile(source)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		var v any
		if err := yaml.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("%s is no schema: %w", source, err)
		}
		return json.Marshal(v)
	}
	return askSchema(ctx, t, source)
}

// askSchema asks a provider for its schema. It is named by its package, or by the folder of its plugin.
func askSchema(ctx context.Context, t *terminal.Terminal, source string) ([]byte, error) {
	project, err := session.FindProject()
	if err != nil && !errors.Is(err, workspace.ErrNoProject) {
		return nil, err
	}
	options, err := dependencies.Options(t, project)
	if err != nil {
		return nil, err
	}
	name, version, _ := strings.Cut(source, "@")
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		if source, err = filepath.Abs(source); err != nil {
			return nil, err
		}
		name, version = strings.TrimPrefix(filepath.Base(source), "pulumi-resource-"), ""
		options.ProjectPlugins = slices.Insert(options.ProjectPlugins, 0, plugin.ProjectPlugin{Kind: plugin.Resource, Name: name, Directory: source})
	}
	if err := urn.CheckPackageName("package", name); err != nil {
		return nil, exit.AsUsage(err)
	}
	if options.Directory, err = os.Getwd(); err != nil {
		return nil, err
	}
	service := sluice.ServeEngine(ctx)
	options.Engine = service
	host := sluice.NewPluginHost(options)
	defer func() { _ = errors.Join(host.Close(), service.Close()) }() // an error of a plugin while it ends changes nothing
	text, err := providers.Schema(ctx, host, providers.Spec{Package: name, Version: version}, nil)
	return []byte(text), err
}
