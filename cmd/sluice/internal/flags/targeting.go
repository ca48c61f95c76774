package flags

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// Targeting chooses resources (steps.md 6.1).
type Targeting struct {
	Targets, Excludes                   []string
	replace, targetReplace              []string
	targetDependents, excludeDependents bool
}

// Add registers the flags that all operations but imports have.
func (t *Targeting) Add(f *pflag.FlagSet) {
	f.StringArrayVarP(&t.Targets, "target", "t", nil, "touch only the resource with this `URN` or name; * stands for any text without \":\", ** for any text; may be repeated")
	f.BoolVar(&t.targetDependents, "target-dependents", false, "touch what depends on a target too")
	f.StringArrayVarP(&t.Excludes, "exclude", "x", nil, "do not touch the resource with this `URN` or name; may be repeated")
}

// AddExcludeDependents registers a flag that destroy does not have. A dependent of an excluded resource can be deleted
// without harm to that resource, so destroy deletes it. Pulumi refuses the flag there.
func (t *Targeting) AddExcludeDependents(f *pflag.FlagSet) {
	f.BoolVar(&t.excludeDependents, "exclude-dependents", false, "do not touch what depends on an excluded resource either")
}

// AddReplace registers the flags for replacements.
func (t *Targeting) AddReplace(f *pflag.FlagSet) {
	f.StringArrayVar(&t.replace, "replace", nil, "replace the resource with this `URN` or name; may be repeated")
	f.StringArrayVar(&t.targetReplace, "target-replace", nil, "replace the resource with this `URN` or name and touch nothing else; may be repeated")
}

// Only returns the flags for an operation on these resources and no others.
func (t *Targeting) Only(urns []string) Targeting {
	return Targeting{Targets: urns, replace: slices.Concat(t.replace, t.targetReplace)}
}

// Without returns the flags for an operation without the excluded resources. rest are the other ones that it would change.
func (t *Targeting) Without(excluded, rest []string) Targeting {
	if len(t.Targets)+len(t.targetReplace) > 0 {
		return t.Only(rest) // the two kinds of flags exclude each other
	}
	narrowed := *t
	narrowed.Excludes = slices.Concat(t.Excludes, excluded)
	return narrowed
}

// Choosing returns the flags that choose resources, as a user would type them. name returns how to write a resource.
func (t *Targeting) Choosing(name func(string) string) (words []string) {
	for _, x := range []struct {
		flag string
		list []string
	}{{"--target", t.Targets}, {"--target-replace", t.targetReplace}, {"--exclude", t.Excludes}, {"--replace", t.replace}} {
		for _, u := range x.list {
			words = append(words, x.flag+" "+name(u))
		}
	}
	return words
}

// Compile converts the flags to the form that the engine uses.
func (t *Targeting) Compile() (stages.Targeting, error) {
	out := stages.Targeting{TargetDependents: t.targetDependents, ExcludeDependents: t.excludeDependents}
	targets := slices.Concat(t.Targets, t.targetReplace)
	if len(targets) > 0 && len(t.Excludes) > 0 {
		return out, exit.Usagef("--target and --exclude cannot be used together")
	}
	for _, x := range []struct {
		flags string
		set   **urn.PatternSet
		list  []string
	}{
		{"--target or --target-replace", &out.Targets, targets}, {"--exclude", &out.Excludes, t.Excludes},
		{"--replace", &out.Replace, slices.Concat(t.replace, t.targetReplace)},
	} {
		var err error
		if *x.set, err = urn.CompileSet(x.list...); err != nil {
			return out, exit.Usagef("%s: %v; give a URN, a name, or a pattern with * for any text without \":\" and ** for any text", x.flags, err)
		}
	}
	return out, nil
}
