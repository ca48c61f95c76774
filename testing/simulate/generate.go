package simulate

import (
	"fmt"
	"maps"
	"slices"
)

// Choices is the source of a generator's decisions. A [rand.Rand] is one. Zero is the simplest choice.
type Choices interface {
	// IntN returns a number from 0 to n-1.
	IntN(n int) int
}

// Bytes makes choices from bytes, and the simplest choices when the bytes run out.
type Bytes []byte

// IntN takes the next byte.
func (b *Bytes) IntN(n int) int {
	if len(*b) == 0 {
		return 0
	}
	v := int((*b)[0])
	*b = (*b)[1:]
	return v % n
}

// generator draws cases.
type generator struct {
	Choices
	used  int  // the number of names used
	quiet bool // nothing fails in this history
	tame  bool // leave out everything that makes the order of arrival matter
}

// Generate draws a case.
func Generate(c Choices) Case {
	g := &generator{Choices: c}
	g.quiet = g.chance(3)
	var out Case
	n := 1 + g.IntN(4)
	var program []Declaration
	var programs [][]Declaration
	manner := Manner(g.pick("", "ordered", "eager"))
	g.tame = manner == "eager" && !g.chance(8)
	for i := range n {
		if i == 0 {
			program = g.program(2 + g.IntN(12))
		} else if !g.chance(6) {
			program = g.next(program)
		}
		out.Operations, programs = append(out.Operations, g.operation(i, program, manner)), append(programs, program)
	}
	out.Schedules = []Schedule{{Seed: 1, Workers: 1, Milliseconds: 1000}, {Seed: 2, Workers: 64, Milliseconds: 1000}, {Seed: 3, Workers: 2, Milliseconds: 1000, Narrow: true}}
	if g.chance(4) {
		out.Schedules[2] = Schedule{Workers: 64}
	}
	for i := range out.Operations {
		g.runProgram(&out.Operations[i], programs[i])
		g.loseCreate(&out.Operations[i])
	}
	for range 3 {
		if !g.chance(3) {
			break
		}
		if !g.chance(3) {
			program = g.next(program)
		}
		out.Operations = append(out.Operations, g.byProgram(len(out.Operations), program, manner))
	}
	if !g.quiet && g.chance(3) {
		g.cutOff(&out, program, manner)
	}
	if g.chance(3) {
		g.reads(&out)
	}
	if g.chance(6) {
		g.race(&out)
	} else if g.chance(2) {
		g.readers(&out)
	}
	if g.chance(5) {
		g.policies(&out)
	}
	if g.chance(5) {
		g.stages(&out)
	}
	g.importOver(&out)
	return out
}

// importOver lets some updates import an object in the place of one that the program has declared before, which may be protected.
func (g *generator) importOver(c *Case) {
	for i := 1; i < len(c.Operations); i++ {
		o, declared := &c.Operations[i], ofKind(c.Operations[i-1].Program, Thing)
		both := slices.DeleteFunc(ofKind(o.Program, Thing), func(name string) bool { return !slices.Contains(declared, name) })
		if o.Do != Update || len(both) == 0 || !g.chance(6) {
			continue
		}
		name, id := g.pick(both...), g.foreign()
		o.Program = slices.Clone(o.Program)
		at := slices.IndexFunc(o.Program, func(d Declaration) bool { return d.Kind == Thing && d.Name == name })
		d := &o.Program[at]
		d.ID, d.Protect = id, d.Protect || g.chance(2)
		o.Before = append(o.Before[:len(o.Before):len(o.Before)], Edit{Do: Foreign, Name: id})
	}
}

// cutOff ends a history with operations that are cut off during calls, with recoveries, and with updates after them. Earlier
// crashes may cut off calls too.
func (g *generator) cutOff(c *Case, program []Declaration, manner Manner) {
	for i := range c.Operations {
		if o := &c.Operations[i]; o.Crash > 0 {
			o.Late = g.landing()
		}
	}
	for range 1 + g.IntN(2) {
		before := len(program)
		for range 1 + g.IntN(3) {
			program = append(program[:len(program):len(program)], g.declaration(program))
		}
		program = g.named(program)
		fresh := ofKind(program[before:], Thing)
		o := Operation{Do: Update, Program: program, Manner: manner}
		if g.chance(3) {
			o.Crash, o.Late = 1+g.IntN(2*len(program)+4), g.landing()
		} else {
			for range 1 + g.IntN(2) {
				f := Failure{Method: g.pick("create", "create", "update", "delete"), Name: g.pick(namesOf(program)...), Died: true, Late: g.landing()}
				if len(fresh) > 0 && g.chance(2) {
					f.Method, f.Name = "create", g.pick(fresh...)
				}
				o.Failures = append(o.Failures, f)
			}
			o.ContinueOnError = g.chance(2)
		}
		c.Operations = append(c.Operations, o)
		if g.chance(2) {
			c.Operations = append(c.Operations, Operation{Do: Recover, Flags: Flags{Pending: g.pick("", "", "clear")}})
		}
		program = g.next(program)
		c.Operations = append(c.Operations, Operation{Do: Update, Program: program, Manner: manner, Flags: Flags{Pending: g.pick("", "create", "clear", "")}})
		if g.chance(2) {
			c.Operations = append(c.Operations, Operation{Do: Recover})
		}
	}
	c.Operations = append(c.Operations, Operation{Do: Recover}, Operation{Do: Update, Program: program, Manner: manner})
}

// reads adds reads of the state by other commands during operations.
func (g *generator) reads(c *Case) {
	for i := range c.Operations {
		if g.chance(2) {
			continue
		}
		for range 1 + g.IntN(4) {
			c.Operations[i].Reads = append(c.Operations[i].Reads, g.IntN(64)*100+g.IntN(100))
		}
	}
}

// race makes several engines run one of the operations once more, at once.
func (g *generator) race(c *Case) {
	r := Race{Server: g.chance(2)}
	for range 2 + g.IntN(2) {
		e := Engine{After: g.IntN(40) * 50}
		if !g.quiet && g.chance(3) {
			e.Crash, e.Late = 1+g.IntN(24), []Landing{0, 0, 1, 2, -1}[g.IntN(5)]
		}
		r.Engines = append(r.Engines, e)
	}
	c.Operations[g.IntN(len(c.Operations))].Race = &r
}

// readers adds another stack that reads the outputs of the history's stack, if that has any.
func (g *generator) readers(c *Case) {
	var outputs []string
	for _, o := range c.Operations {
		for _, d := range o.Program {
			for _, name := range d.Exports {
				outputs = append(outputs, "of "+name)
			}
		}
	}
	if len(outputs) == 0 {
		return
	}
	var program []Declaration
	for i := range c.Operations {
		if program == nil || g.chance(3) {
			program = nil
			for n := range 1 + g.IntN(4) {
				d := Declaration{Name: fmt.Sprintf("reader%d", n)}
				for _, p := range plainNames {
					switch {
					case g.chance(2):
						set(&d.Outputs, p, g.pick(outputs...))
					case n > 0 && g.chance(2):
						set(&d.Refs, p, program[g.IntN(n)].Name)
					}
				}
				program = append(program, d)
			}
		}
		if g.chance(2) {
			c.Operations[i].Reader = &Reader{Program: program, Manner: c.Operations[i].Manner, Sealed: g.chance(3), ContinueOnError: g.chance(2)}
		}
	}
}

// policies adds policies that check the program's resources, from some operation on.
func (g *generator) policies(c *Case) {
	var all []Policy
	kinds := []string{string(Advise), string(Remedy), string(AdviseOnStack), string(Remedy), string(Advise)}
	if !g.quiet {
		kinds = append(kinds, string(Mandate), string(MandateOnStack))
	}
	first := g.IntN(len(c.Operations))
	program := c.Operations[first].Program
	for range 1 + g.IntN(4) {
		p := Policy{Do: PolicyKind(g.pick(kinds...)), Property: g.pick(plainNames...)}
		if len(program) > 0 && g.IntN(4) > 0 {
			d := program[g.IntN(len(program))]
			p.Name, p.Property = d.Name, g.pick(append(sorted(d.Values), p.Property)...)
		}
		all = append(all, p)
	}
	limit := g.IntN(3)
	for i := first; i < len(c.Operations); i++ {
		c.Operations[i].Policies, c.Operations[i].AnalyzeLimit = all, limit
	}
}

// stages puts stages into the slots of the engine, from some operation on.
func (g *generator) stages(c *Case) {
	first := g.IntN(len(c.Operations))
	names := namesOf(c.Operations[first].Program)
	var all []Stage
	for range 1 + g.IntN(4) {
		s := Stage{
			In: SlotName(g.pick("registered", "located", "checked", "analyzed", "diffed", "built", "executed", "deleting", "deleted", "standard")),
			Do: StageKind(g.pick("watch", "delay")), Workers: g.IntN(4),
		}
		if s.In == Registered && g.chance(2) {
			s.Do = Change
		}
		if s.Do != Watch && g.IntN(3) > 0 {
			s.Name = g.pick(names...)
		}
		if !g.quiet && s.In != Registered && s.In != Deleted && s.In != Standard && g.chance(6) {
			s.Do, s.Name = Refuse, g.pick(names...)
		}
		all = append(all, s)
	}
	for i := first; i < len(c.Operations); i++ {
		c.Operations[i].Stages = all
	}
}

func (g *generator) landing() Landing { return []Landing{1, 2, 1, 2, 3, -1}[g.IntN(6)] }

// named returns the program with generated names for some of its resources.
func (g *generator) named(in []Declaration) []Declaration {
	out := slices.Clone(in)
	for i, d := range out {
		if d.Kind == Thing && g.IntN(3) > 0 {
			out[i].Values = maps.Clone(d.Values)
			set(&out[i].Values, autoName, "a")
		}
	}
	return out
}

// runProgram may make a refresh or a destroy run the program, or make an update run it during its refresh.
func (g *generator) runProgram(o *Operation, program []Declaration) {
	switch {
	case o.Do == Import, o.Do == Update && !o.Refresh:
	case g.chance(2):
		o.RunProgram, o.Program = true, program
	}
}

// loseCreate may make a plugin die while it creates one of the declared resources.
func (g *generator) loseCreate(o *Operation) {
	things := ofKind(o.Program, Thing)
	if o.Do != Update || len(things) == 0 || g.quiet || !g.chance(5) {
		return
	}
	o.Failures = append([]Failure{{Method: "create", Name: g.pick(things...), Nth: g.IntN(2), Applied: g.chance(2), Died: true}}, o.Failures...)
}

// byProgram returns one more operation, most likely a refresh or destroy that runs the program.
func (g *generator) byProgram(i int, program []Declaration, manner Manner) Operation {
	o := g.operation(i, program, manner)
	o.Do, o.Program, o.RunProgram = Update, program, true
	switch g.IntN(8) {
	case 0, 1, 2:
		o.Do = Refresh
	case 3, 4, 5:
		o.Do = Destroy
	case 6:
		o.Refresh = true
	}
	return o
}

// chance returns true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == n-1 }

func (g *generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g *generator) operation(i int, program []Declaration, manner Manner) Operation {
	o := Operation{Do: Update, Program: program, Manner: manner, Flags: Flags{Version: g.version()}}
	if i > 0 {
		switch g.IntN(12) {
		case 10:
			o.Do, o.Program = Refresh, nil
		case 11:
			o.Do, o.Program = Destroy, nil
		case 9:
			if g.chance(2) {
				o.Do, o.Program = Import, g.imports(program)
			}
		}
	}
	names := namesOf(program)
	some := func() []string {
		out := []string{g.pick(names...)}
		if g.chance(2) {
			out = append(out, g.pick(names...))
		}
		return out
	}
	o.Refresh = g.chance(10)
	if i > 0 && g.chance(8) {
		switch g.IntN(3) {
		case 0:
			o.Targets = some()
		case 1:
			o.Excludes = some()
		case 2:
			o.Replace = some()
		}
		o.Dependents = g.chance(2)
	}
	if i > 0 && g.chance(3) {
		for range 1 + g.IntN(3) {
			o.Before = append(o.Before, g.edit(names))
		}
	}
	o.IgnoreProtect = g.chance(10)
	o.Planned = g.chance(3)
	o.Pending = g.pick("", "create", "clear", "create", "")
	if g.quiet {
		return o
	}
	o.ContinueOnError = g.IntN(3) > 0
	o.Stubborn, o.Omits = g.chance(3), g.chance(2)
	if g.chance(2) {
		for range 1 + g.IntN(3) {
			o.Failures = append(o.Failures, g.failure(names))
		}
	}
	switch g.IntN(16) {
	case 13:
		o.Throw = 1 + g.IntN(len(program))
	case 14:
		o.Interrupt, o.Cancel = 1+g.IntN(40), g.chance(2)
	case 15:
		o.Crash = 1 + g.IntN(24)
	}
	return o
}

func (g *generator) version() string {
	if g.chance(10) {
		return "2.0.0"
	}
	return ""
}

func (g *generator) failure(names []string) Failure {
	f := Failure{Method: g.pick("create", "update", "delete", "create", "update", "delete", "read", "diff", "check", "configure"), Name: g.pick(names...)}
	f.Nth = g.IntN(3)
	f.Applied = g.chance(4)
	f.Died = g.chance(5)
	return f
}

func (g *generator) edit(names []string) Edit {
	kinds := []EditKind{
		Taint, Protect, Unprotect, Retain, PendingReplacement, OldCopy, PendingOperation, Interrupted, Drift, Vanish, Foreign,
		Taint, Drift, Vanish, Drift,
	}
	e := Edit{Do: kinds[g.IntN(len(kinds))], Name: g.pick(names...)}
	if e.Do == Foreign {
		e.Name = g.foreign()
	}
	return e
}

// imports returns declarations of objects to import.
func (g *generator) imports(program []Declaration) []Declaration {
	var out []Declaration
	for range 1 + g.IntN(3) {
		d := Declaration{Name: g.pick(namesOf(program)...), ID: g.foreign()}
		if g.chance(2) {
			g.used++
			d.Name = fmt.Sprintf("r%d", g.used)
		}
		if g.chance(5) {
			d.Kind, d.ID = Component, ""
		}
		if g.chance(3) {
			d.Parent = g.pick(namesOf(append(program, out...))...)
		}
		if ps := ofKind(program, Provider); len(ps) > 0 && g.chance(2) {
			d.Provider = g.pick(ps...)
		}
		d.Protect = g.chance(3)
		out = append(out, d)
	}
	return out
}

func (g *generator) foreign() string { return fmt.Sprintf("foreign-%d", g.IntN(2)) }

func namesOf(program []Declaration) []string {
	out := make([]string, 0, len(program)+1)
	for _, d := range program {
		out = append(out, d.Name)
	}
	return append(out, "nobody")
}

// program declares n resources, each of which refers to earlier ones only.
func (g *generator) program(n int) []Declaration {
	var out []Declaration
	if g.chance(3) {
		out = append(out, Declaration{Kind: Stack, Name: "p-dev"})
	}
	for range n {
		out = append(out, g.declaration(out))
	}
	return g.withExports(out)
}

// withExports adds exports of some resources' outputs to a program that declares its stack.
func (g *generator) withExports(program []Declaration) []Declaration {
	if len(program) == 0 || program[0].Kind != Stack {
		return program
	}
	var names []string
	for _, d := range program[1:] {
		if g.chance(3) {
			names = append(names, d.Name)
		}
	}
	program[0].Exports, program[0].Secret = names, nil
	for _, name := range names {
		if g.chance(3) {
			program[0].Secret = append(program[0].Secret, name)
		}
	}
	return program
}

// declaration returns one declaration that may refer to those before it.
func (g *generator) declaration(before []Declaration) Declaration {
	g.used++
	d := Declaration{Name: fmt.Sprintf("r%d", g.used)}
	if len(before) > 0 && g.chance(80) {
		d.Name = before[g.IntN(len(before))].Name
	}
	switch g.IntN(20) {
	case 14, 15, 16:
		d.Kind = Component
	case 17, 18:
		d.Kind = Provider
	case 19:
		d.Kind, d.ID = Reading, g.foreign()
		if before := ofKind(before, Thing); len(before) > 0 && g.chance(3) {
			d.ID = "of " + g.pick(before...)
		}
	}
	g.properties(&d, before)
	g.references(&d, before)
	g.options(&d)
	return d
}

func ofKind(program []Declaration, k DeclarationKind) []string {
	var out []string
	for _, d := range program {
		if d.Kind == k {
			out = append(out, d.Name)
		}
	}
	return out
}

// plainNames and fiercerNames are names of properties. The name determines the effect of a change of the property; see
// providertest and provider.go.
var plainNames, fiercerNames = []string{"value", "other", "immutable", "vague"}, []string{"value", "immutable", "dbr", "vague"}

func (g *generator) properties(d *Declaration, before []Declaration) {
	names := fiercerNames
	if g.tame || d.Kind == Provider {
		names = plainNames
	}
	things := ofKind(before, Thing)
	for _, p := range names {
		switch {
		case g.chance(2):
		case len(things) > 0 && g.chance(2):
			set(&d.Refs, p, g.pick(things...))
		default:
			set(&d.Values, p, g.pick("a", "b", "c"))
		}
	}
	if d.Kind == Thing && g.chance(12) {
		set(&d.Values, g.pick("refreshed", "unavailable", "refreshed", "shown", "shown"), g.pick("a", "b"))
	}
	if !g.quiet && g.chance(60) {
		set(&d.Values, g.pick("invalid", "unhealthy"), "a")
	}
	if g.chance(10) {
		d.Secret = []string{g.pick(names...)}
	}
}

func set(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

func (g *generator) references(d *Declaration, before []Declaration) {
	if len(before) == 0 {
		return
	}
	any := func() string { return before[g.IntN(len(before))].Name }
	if g.chance(4) {
		d.Parent = any()
	}
	if g.chance(4) {
		d.DependsOn = []string{any()}
	}
	if things := ofKind(before, Thing); len(things) > 0 {
		if g.chance(8) {
			d.DeletedWith = g.pick(things...)
		}
		if g.chance(8) {
			d.ReplaceWith = g.pick(things...)
		}
	}
	if ps := ofKind(before, Provider); len(ps) > 0 && g.chance(2) {
		d.Provider = g.pick(ps...)
	}
}

func (g *generator) options(d *Declaration) {
	if g.chance(8) {
		d.Ignore = []string{g.pick("value", "immutable")}
	}
	if g.chance(8) {
		d.ReplaceOn = []string{g.pick("other", "value", "*")}
	}
	if g.chance(8) && !g.tame {
		yes := g.chance(2)
		d.DeleteFirst = &yes
	}
	if g.chance(8) {
		d.Trigger = "a"
	}
	if g.chance(16) {
		d.SecretOutputs = []string{"arn"}
	}
	if g.chance(14) {
		set(&d.Hooks, g.pick("BeforeCreate", "AfterCreate", "BeforeUpdate", "AfterUpdate", "BeforeDelete", "OnError"), "well")
		if !g.quiet {
			for k := range d.Hooks {
				d.Hooks[k] = g.pick("well", "ill")
			}
		}
	}
	d.Protect = g.chance(16)
	d.Retain = g.chance(14)
	d.Invokes = g.chance(16)
	if d.Kind == Thing && g.chance(24) {
		d.ID = g.foreign()
	}
}

// next returns the next version of a program: values change, resources are removed or renamed, and new ones are added.
func (g *generator) next(in []Declaration) []Declaration {
	gone := map[string]bool{}
	waits := map[string][]string{} // the direct predecessors of each resource
	renamed := map[string]string{}
	var out []Declaration
	for _, d := range in {
		before := g.waitsOf(d, gone, waits)
		waits[d.Name] = before
		if d.Kind != Stack && g.chance(8) {
			gone[d.Name] = true
			continue
		}
		c := g.changed(d, gone, renamed)
		if g.tame {
			// A resource still comes after the recorded dependencies, even if it no longer refers to them.
			for _, w := range before {
				if n := renamed[w]; n != "" {
					w = n
				}
				if !slices.Contains(c.DependsOn, w) {
					c.DependsOn = append(slices.Clone(c.DependsOn), w)
				}
			}
		}
		out = append(out, c)
	}
	if !g.tame && g.chance(4) {
		out = g.moved(out)
	}
	for range g.IntN(3) {
		out = append(out, g.declaration(out))
	}
	if len(out) == 0 {
		return []Declaration{g.declaration(nil)}
	}
	return g.withExports(out)
}

// moved returns the program with one of its resources declared last, without the references to it.
func (g *generator) moved(program []Declaration) []Declaration {
	things := ofKind(program, Thing)
	if len(things) == 0 {
		return program
	}
	name := g.pick(things...)
	at := slices.IndexFunc(program, func(d Declaration) bool { return d.Name == name })
	d := program[at]
	return append(slices.Delete(slices.Clone(program), at, at+1), d)
}

// waitsOf lists the predecessors of a resource's registration. It replaces a removed resource by the predecessors of that.
func (g *generator) waitsOf(d Declaration, gone map[string]bool, waits map[string][]string) []string {
	var out []string
	for _, dep := range d.dependencies() {
		if gone[dep] {
			out = append(out, waits[dep]...)
		} else {
			out = append(out, dep)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// changed returns the next version of a declaration that is kept.
func (g *generator) changed(d Declaration, gone map[string]bool, renamed map[string]string) Declaration {
	c := d
	c.Values, c.Refs, c.Aliases, c.DependsOn = nil, nil, nil, nil
	for _, k := range sorted(d.Values) {
		switch v := d.Values[k]; {
		case g.chance(3):
			set(&c.Values, k, g.pick("d", "e"))
		default:
			set(&c.Values, k, v)
		}
	}
	follow := func(n string) string {
		if gone[n] {
			return ""
		}
		if to := renamed[n]; to != "" {
			return to
		}
		return n
	}
	for _, k := range sorted(d.Refs) {
		if n := follow(d.Refs[k]); n != "" && !g.chance(6) {
			set(&c.Refs, k, n)
		}
	}
	for _, n := range d.DependsOn {
		if n = follow(n); n != "" {
			c.DependsOn = append(c.DependsOn, n)
		}
	}
	c.Parent, c.DeletedWith, c.ReplaceWith, c.Provider = follow(d.Parent), follow(d.DeletedWith), follow(d.ReplaceWith), follow(d.Provider)
	if d.Kind == Stack {
		return c
	}
	if c.Parent != "" && g.chance(16) {
		c.Aliases, c.Parent = append(c.Aliases, Alias{Parent: c.Parent}), ""
	}
	if g.chance(12) {
		g.used++
		c.Name = fmt.Sprintf("r%d", g.used)
		renamed[d.Name] = c.Name
		a := Alias{Name: d.Name}
		if len(c.Aliases) > 0 {
			c.Aliases[0].Name = d.Name
		} else if !g.chance(6) {
			c.Aliases = []Alias{a}
		}
	}
	g.changeOptions(&c)
	return c
}

func (g *generator) changeOptions(c *Declaration) {
	if g.chance(12) {
		c.Protect = !c.Protect
	}
	if g.chance(10) {
		c.Retain = !c.Retain
	}
	if c.Trigger != "" && g.chance(2) {
		c.Trigger += "b"
	}
	if g.chance(16) {
		c.Provider = ""
	}
	if g.chance(10) {
		c.ID = ""
		if c.Kind == Reading {
			c.Kind = Thing
		}
	}
	if c.Kind == Thing && g.chance(40) {
		c.Kind, c.ID = Reading, g.foreign()
	}
	if c.Kind == Thing && g.chance(30) {
		c.ID = g.foreign()
	}
}
