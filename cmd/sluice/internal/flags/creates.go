package flags

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/stages"
)

// Creates selects how interrupted creates are resolved (state.md 9.4 R-6).
type Creates struct {
	Clear, Skip bool
	imports     []string // URNs, each followed by an ID
	others      string   // how the creates that imports does not name are resolved
}

// Add registers the flags of operations that create. They resolve the interrupted creates of resources that the program
// declares.
func (c *Creates) Add(f *pflag.FlagSet) {
	f.StringVar(&c.others, "pending-creates", "error",
		"what to do about creates that an earlier operation began and whose outcome is not known: error, when such a resource would be "+
			"created; create, make another object; clear, forget them: nothing was made")
	c.addImports(f)
}

// AddRefresh registers the flags of refreshes.
func (c *Creates) AddRefresh(f *pflag.FlagSet) {
	f.BoolVar(&c.Clear, "clear-pending-creates", false, "drop all interrupted creates of earlier operations")
	c.addImports(f)
	f.BoolVar(&c.Skip, "skip-pending-creates", false, "do not ask about interrupted creates")
}

func (c *Creates) addImports(f *pflag.FlagSet) {
	f.StringArrayVar(&c.imports, "import-pending-creates", nil,
		"import what an interrupted create has made: the resource, as its URN or its name, and with the flag given again its ID; may be repeated")
}

// Check refuses contradictory flags.
func (c *Creates) Check() error {
	if c.Skip && c.Clear {
		return exit.Usagef("cannot set both --skip-pending-creates and --clear-pending-creates")
	}
	if len(c.imports)%2 != 0 {
		return exit.Usagef("--import-pending-creates: each URN must be followed by an ID: found an odd number of entries")
	}
	switch c.others {
	case "", "error", "create", "clear":
	default:
		return exit.Usagef("--pending-creates %s: write error, create or clear", c.others)
	}
	return nil
}

// Imported returns the given IDs by URN, and the URNs in the given order.
func (c *Creates) Imported() (ids map[string]string, urns []string) {
	ids = map[string]string{}
	for i := 0; i+1 < len(c.imports); i += 2 {
		ids[c.imports[i]] = c.imports[i+1]
		urns = append(urns, c.imports[i])
	}
	return ids, urns
}

// Others returns how creates without a given ID are resolved.
func (c *Creates) Others() stages.CreateResolution {
	return stages.CreateResolution{Again: c.others == "create", Clear: c.others == "clear"}
}
