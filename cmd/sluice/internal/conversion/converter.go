package conversion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source"
)

// Tool returns the name of the converter for what a user calls a tool.
func Tool(from string) string {
	if strings.EqualFold(from, "tf") || strings.EqualFold(from, "terraform") {
		return "terraform"
	}
	return from
}

// mappings reads files with mappings. The name of a file without its ending is that of the provider that it is for.
func mappings(files []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, exit.Usagef("--mappings: %w", err)
		}
		name := filepath.Base(file)
		out[strings.TrimSuffix(name, filepath.Ext(name))] = data
	}
	return out, nil
}

// open starts the converter of a tool. What it prints is shown as it comes.
func open(ctx context.Context, t *terminal.Terminal, tool string, mapped map[string][]byte, o host.PluginOptions) (*host.Converter, error) {
	fmt.Fprintf(t.Err, "Converting from %s\n", tool)
	return host.OpenConverter(ctx, tool, host.ConverterOptions{Plugins: o, Mappings: mapped, Output: dependencies.Printer(t.Err, t.Err)})
}

// show shows what a converter or a generator says, and reports whether none of it is an error.
func show(t *terminal.Terminal, list []source.Remark) bool {
	good := true
	for _, r := range list {
		severity := "warning"
		if r.IsError {
			severity, good = "error", false
		}
		fmt.Fprintf(t.Err, "%s: %s\n", severity, strings.ReplaceAll(strings.TrimSpace(r.Text), "\n", "\n  "))
	}
	return good
}

// errReported says that diagnostics have said why.
var errReported = errors.New("see the errors above")
