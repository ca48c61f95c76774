// Package runtimes chooses how a program is run: through a language plugin, or directly where no plugin is needed.
//
// It starts nothing.
//
// Invariant: the same project and the same installed plugins give the same choice.
package runtimes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/golang"
	"github.com/sluice-iac/sluice/source/language"
	"github.com/sluice-iac/sluice/source/nodejs"
)

// Options are what a choice depends on besides the project.
type Options struct {
	// Finder finds language plugins.
	Finder plugin.Finder
	// EngineAddress is that of the Engine service; "" when there is none.
	EngineAddress string
}

// UnsupportedError says that there is no way to run a program.
type UnsupportedError struct {
	Runtime string
	Looked  []string // where a language plugin could have been
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("programs with the runtime %q need the language plugin pulumi-language-%s, which was not found "+
		"(looked in %s); install it, or correct `runtime` in the project file (nodejs and go need no plugin)",
		e.Runtime, e.Runtime, strings.Join(e.Looked, ", "))
}

// Choose returns the program of a project: attached to if PULUMI_DEBUG_LANGUAGES names its runtime ("go:12345,...",
// protocol.md 1.9), else run by its language plugin if there is one, else directly (protocol.md 6.5). Errors are an
// *[UnsupportedError], and those of a malformed environment or project.
func Choose(p source.Project, o Options) (source.Program, error) {
	port, err := attached(p.Runtime, o.Finder)
	if err != nil {
		return nil, err
	}
	if port != 0 {
		return language.New(p, language.Options{Port: port, EngineAddress: o.EngineAddress}), nil
	}
	found, err := o.Finder.Find(plugin.Language, p.Runtime, "")
	if err == nil {
		return language.New(p, language.Options{Executable: found.Executable, EngineAddress: o.EngineAddress}), nil
	}
	var missing *plugin.MissingError
	if !errors.As(err, &missing) {
		return nil, err
	}
	switch p.Runtime {
	case "nodejs":
		return nodejs.New(p), nil
	case "go":
		return golang.New(p), nil
	}
	return nil, &UnsupportedError{Runtime: p.Runtime, Looked: places(o.Finder)}
}

func places(f plugin.Finder) []string {
	looked := []string{"the project's plugins", "$PATH"}
	if f.Bundled != "" {
		looked = append(looked, f.Bundled)
	}
	if f.Home != "" {
		looked = append(looked, filepath.Join(f.Home, "plugins"))
	}
	return looked
}

// attached returns the port of a language plugin that runs already, 0 when there is none.
func attached(runtime string, f plugin.Finder) (int, error) {
	lookup := f.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	list, _ := lookup("PULUMI_DEBUG_LANGUAGES")
	for entry := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if name != runtime || name == "" {
			continue
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return 0, fmt.Errorf("PULUMI_DEBUG_LANGUAGES: %q is not of the form <runtime>:<port>", entry)
		}
		return int(port), nil
	}
	return 0, nil
}
