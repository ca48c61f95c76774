package flags

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/source/tooling"
)

// Debugger selects the program and the plugins that wait for a debugger.
type Debugger struct {
	tooling.Debug
	given []string
	found sync.Map // the names of plugins that have been started
}

// Add registers the flag.
func (d *Debugger) Add(f *pflag.FlagSet) {
	f.Var(d, "attach-debugger", "wait until a debugger is attached to the program; =plugins, =plugin:NAME or =all: to plugins "+
		"that are written in a program language, to the one of this name, or to both; may be repeated")
	f.Lookup("attach-debugger").NoOptDefVal = "program"
}

// Check refuses to wait for a debugger of a program that does not run.
func (d *Debugger) Check(programRuns bool) error {
	if d.Program && !d.Plugins && !programRuns {
		return exit.Usagef("--attach-debugger requires --run-program, because the program does not run otherwise; --attach-debugger=plugins attaches to plugins only")
	}
	return nil
}

// Missed returns the names for which there was no plugin.
func (d *Debugger) Missed() []string {
	return slices.DeleteFunc(slices.Clone(d.Names), func(name string) bool {
		_, found := d.found.Load(name)
		return found
	})
}

// Set adds the program or plugins that wait for a debugger.
func (d *Debugger) Set(text string) error {
	name, isName := strings.CutPrefix(text, "plugin:")
	switch {
	case text == "program":
		d.Program = true
	case text == "plugins":
		d.Plugins = true
	case text == "all":
		d.Program, d.Plugins = true, true
	case isName && name != "":
		d.Names, d.Found = append(d.Names, name), func(name string) { d.found.Store(name, true) }
	default:
		return errors.New("write program, plugins, plugin:NAME or all")
	}
	d.given = append(d.given, text)
	return nil
}

// String shows the flag.
func (d *Debugger) String() string { return strings.Join(d.given, ",") }

// Type names the flag's type in help texts.
func (d *Debugger) Type() string { return "which" }
