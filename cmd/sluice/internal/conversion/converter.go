package conversion

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/dependencies"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Tool returns the name of the converter for a user's name of a tool.
func Tool(from string) string {
	if strings.EqualFold(from, "tf") || strings.EqualFold(from, "terraform") {
		return "terraform"
	}
	return from
}

// mappings reads files with mappings. The name of a file without its extension is that of the mapped provider.
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

// open starts the converter of a tool. Its output is shown as it comes.
func open(ctx context.Context, t *terminal.Terminal, tool string, mapped map[string][]byte, o host.PluginOptions) (*host.Converter, error) {
	fmt.Fprintf(t.Err, "Converting from %s\n", tool)
	return host.OpenConverter(ctx, tool, host.ConverterOptions{Plugins: o, Mappings: mapped, Output: dependencies.Printer(t.Err, t.Err)})
}

// show prints the diagnostics of a converter or a generator, and reports whether none of them is an error.
func show(t *terminal.Terminal, list []tooling.Remark) bool {
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

// errReported is returned after diagnostics have explained the failure.
var errReported = errors.New("see the errors above")

// interruptible returns a context that a signal to end the process cancels, so that plugins end and temporary files are removed.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}
