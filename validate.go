package sluice

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// errNoProgram is returned when there is nothing to run.
var errNoProgram = errors.New("no program: set Options.Program")

// validate returns an error for each option that an operation cannot use, all at once. Nothing has been done then.
func (o Options) validate(k kind) error {
	var errs []error
	add := func(err error) { errs = append(errs, err) }
	o.checkNames(add)
	o.checkNumbers(add)
	o.checkValues(add)
	o.checkFor(k, add)
	if k.imports != nil {
		add(stages.CheckImports(o.Stack, o.Project, k.imports))
	}
	return errors.Join(errs...)
}

// checkNames refuses names with which a URN would have another meaning.
func (o Options) checkNames(add func(error)) {
	root := urn.RootStack(o.Stack, o.Project)
	for _, n := range []struct{ option, given, read string }{{"Stack", o.Stack, root.Stack()}, {"Project", o.Project, root.Project()}} {
		switch {
		case n.given == "":
			add(fmt.Errorf("Options.%s is empty; it is a part of the name of every resource", n.option))
		case n.given != n.read || strings.HasPrefix(n.given, ":") || strings.HasSuffix(n.given, ":"):
			add(fmt.Errorf("Options.%s must not be %q: the name of a resource separates its parts by %q", n.option, n.given, "::"))
		}
	}
	stack, ok := o.State.(interface{ Named() (project, name string) }) // one of a backend
	if !ok || isNil(o.State) {
		return
	}
	if project, name := stack.Named(); name != o.Stack || project != "" && project != o.Project {
		add(fmt.Errorf("Options.State is the stack %s of project %s, and Options name the stack %s of project %s; they must be the same",
			name, project, o.Stack, o.Project))
	}
}

func (o Options) checkNumbers(add func(error)) {
	for _, n := range []struct {
		option string
		value  int
		none   string
	}{
		{"Parallel", o.Parallel, "4 for each processor"},
		{"ReadLimit", o.ReadLimit, "none"},
		{"AnalyzeLimit", o.AnalyzeLimit, "all"},
	} {
		if n.value < 0 {
			add(fmt.Errorf("Options.%s must be a number from 1, or 0 for %s, not %d", n.option, n.none, n.value))
		}
	}
}

func (o Options) checkValues(add func(error)) {
	for _, v := range []struct {
		option string
		value  any
	}{{"Providers", o.Providers}, {"State", o.State}, {"Service", o.Service}, {"Autonamer", o.Autonamer}} {
		if isNil(v.value) {
			add(nilOption(v.option, v.value))
		}
	}
	for i, a := range o.Analyzers {
		if a == nil || isNil(a) {
			add(fmt.Errorf("Options.Analyzers[%d] is nil", i))
		}
	}
	for i, p := range o.PolicyPacks {
		if p == nil || isNil(p) {
			add(fmt.Errorf("Options.PolicyPacks[%d] is nil", i))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(o.Config)) {
		if namespace, name, ok := strings.Cut(key, ":"); !ok || namespace == "" || name == "" {
			add(fmt.Errorf("Options.Config[%q]: a key is \"namespace:name\", and the namespace of a program's own settings is the name of its project", key))
		}
	}
	if o.Entropy != nil && len(o.Entropy) == 0 {
		add(errors.New("Options.Entropy is empty, which would give each operation the same random values; leave it nil"))
	}
	if o.Root != "" && !filepath.IsAbs(o.Root) {
		add(fmt.Errorf("Options.Root must be an absolute path, not %q: programs name their files by absolute paths", o.Root))
	}
}

// checkFor refuses options that the caller relies on and the operation would ignore.
func (o Options) checkFor(k kind, add func(error)) {
	switch {
	case !k.runsProgram(o):
	case o.Program == nil:
		add(errNoProgram)
	case isNil(o.Program):
		add(nilOption("Program", o.Program))
	}
	if o.Plan != nil && !k.hasPlans() {
		add(fmt.Errorf("Options.Plan cannot hold %s: there are plans for updates and their previews only", k.article()))
	}
	t := o.Targeting
	if t.Targets.IsConstrained() && t.Excludes.IsConstrained() {
		add(errors.New("Options.Targeting has both Targets and Excludes; set one of them"))
	}
	if k.imports != nil && (t.IsPartial() || t.Replace.IsConstrained()) {
		add(errors.New("Options.Targeting: an import is about its requests only; leave it unset"))
	}
}

// runsProgram reports whether the operation runs the program.
func (k kind) runsProgram(o Options) bool {
	return k.imports == nil && !k.recovers && (k.mode == stages.ModeUpdate || o.RunProgram)
}

// article names the operation with an article.
func (k kind) article() string {
	name := k.name
	switch {
	case k.imports != nil:
		name = "import"
	case k.recovers:
		name = "recovery"
	case k.mode == stages.ModeDestroy:
		name = "destroy"
	case k.mode == stages.ModeRefresh:
		name = "refresh"
	}
	if name == "import" {
		return "an " + name
	}
	return "a " + name
}

func nilOption(option string, value any) error {
	return fmt.Errorf("Options.%s is a nil %T; give it a value, or leave it unset", option, value)
}

// isNil reports whether an option is set to a nil function or pointer, which would panic when it is used.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return (v.Kind() == reflect.Func || v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) && v.IsNil()
}
