package simulate

import (
	"fmt"
	"slices"
)

// generator draws cases.
type generator struct {
	draw     draw
	programs *programGenerator
}

// Generate draws a case.
func Generate(c Choices) Case {
	d := draw{choices: c}
	g := &generator{draw: d, programs: &programGenerator{draw: d}}
	g.programs.quiet = g.draw.chance(3)
	var out Case
	n := 1 + g.draw.IntN(4)
	var program []Declaration
	var programs [][]Declaration
	manner := Manner(g.draw.pick("", "ordered", "eager"))
	g.programs.tame = manner == "eager" && !g.draw.chance(8)
	for i := range n {
		if i == 0 {
			program = g.programs.program(2 + g.draw.IntN(12))
		} else if !g.draw.chance(6) {
			program = g.programs.next(program)
		}
		out.Operations, programs = append(out.Operations, g.operation(i, program, manner)), append(programs, program)
	}
	out.Schedules = []Schedule{{Seed: 1, Workers: 1, Milliseconds: 1000}, {Seed: 2, Workers: 64, Milliseconds: 1000}, {Seed: 3, Workers: 2, Milliseconds: 1000, Narrow: true}}
	if g.draw.chance(4) {
		out.Schedules[2] = Schedule{Workers: 64}
	}
	for n := range out.Schedules[1:] {
		out.Schedules[1+n].Reuse = g.draw.chance(2)
	}
	for i := range out.Operations {
		out.Operations[i].DependsOn = g.draw.chance(6)
	}
	for i := range out.Operations {
		g.runProgram(&out.Operations[i], programs[i])
		g.loseCreate(&out.Operations[i])
	}
	for range 3 {
		if !g.draw.chance(3) {
			break
		}
		if !g.draw.chance(3) {
			program = g.programs.next(program)
		}
		out.Operations = append(out.Operations, g.byProgram(len(out.Operations), program, manner))
	}
	if !g.programs.quiet && g.draw.chance(3) {
		g.cutOff(&out, program, manner)
	}
	if g.draw.chance(3) {
		g.reads(&out)
	}
	if g.draw.chance(6) {
		g.race(&out)
	} else if g.draw.chance(2) {
		g.readers(&out)
	}
	if g.draw.chance(5) {
		g.policies(&out)
	}
	if g.draw.chance(5) {
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
		if o.Do != Update || len(both) == 0 || !g.draw.chance(6) {
			continue
		}
		name, id := g.draw.pick(both...), g.programs.foreign()
		o.Program = slices.Clone(o.Program)
		at := slices.IndexFunc(o.Program, func(d Declaration) bool { return d.Kind == Thing && d.Name == name })
		d := &o.Program[at]
		d.ID, d.Protect = id, d.Protect || g.draw.chance(2)
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
	for range 1 + g.draw.IntN(2) {
		before := len(program)
		for range 1 + g.draw.IntN(3) {
			program = append(program[:len(program):len(program)], g.programs.declaration(program))
		}
		program = g.programs.named(program)
		fresh := ofKind(program[before:], Thing)
		o := Operation{Do: Update, Program: program, Manner: manner}
		if g.draw.chance(3) {
			o.Crash, o.Late = 1+g.draw.IntN(2*len(program)+4), g.landing()
		} else {
			for range 1 + g.draw.IntN(2) {
				f := Failure{Method: g.draw.pick("create", "create", "update", "delete"), Name: g.draw.pick(namesOf(program)...), Died: true, Late: g.landing()}
				if len(fresh) > 0 && g.draw.chance(2) {
					f.Method, f.Name = "create", g.draw.pick(fresh...)
				}
				o.Failures = append(o.Failures, f)
			}
			o.ContinueOnError = g.draw.chance(2)
		}
		c.Operations = append(c.Operations, o)
		if g.draw.chance(2) {
			c.Operations = append(c.Operations, Operation{Do: Recover, Flags: Flags{Pending: g.draw.pick("", "", "clear")}})
		}
		program = g.programs.next(program)
		c.Operations = append(c.Operations, Operation{Do: Update, Program: program, Manner: manner, Flags: Flags{Pending: g.draw.pick("", "create", "clear", "")}})
		if g.draw.chance(2) {
			c.Operations = append(c.Operations, Operation{Do: Recover})
		}
	}
	c.Operations = append(c.Operations, Operation{Do: Recover}, Operation{Do: Update, Program: program, Manner: manner})
}

// reads adds reads of the state by other commands during operations.
func (g *generator) reads(c *Case) {
	for i := range c.Operations {
		if g.draw.chance(2) {
			continue
		}
		for range 1 + g.draw.IntN(4) {
			c.Operations[i].Reads = append(c.Operations[i].Reads, g.draw.IntN(64)*100+g.draw.IntN(100))
		}
	}
}

// race makes several engines run one of the operations once more, at once.
func (g *generator) race(c *Case) {
	r := Race{Server: g.draw.chance(2)}
	for range 2 + g.draw.IntN(2) {
		e := Engine{After: g.draw.IntN(40) * 50}
		if !g.programs.quiet && g.draw.chance(3) {
			e.Crash, e.Late = 1+g.draw.IntN(24), []Landing{0, 0, 1, 2, -1}[g.draw.IntN(5)]
		}
		r.Engines = append(r.Engines, e)
	}
	c.Operations[g.draw.IntN(len(c.Operations))].Race = &r
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
		if program == nil || g.draw.chance(3) {
			program = nil
			for n := range 1 + g.draw.IntN(4) {
				d := Declaration{Name: fmt.Sprintf("reader%d", n)}
				for _, p := range plainNames {
					switch {
					case g.draw.chance(2):
						set(&d.Outputs, p, g.draw.pick(outputs...))
					case n > 0 && g.draw.chance(2):
						set(&d.Refs, p, program[g.draw.IntN(n)].Name)
					}
				}
				program = append(program, d)
			}
		}
		if g.draw.chance(2) {
			c.Operations[i].Reader = &Reader{Program: program, Manner: c.Operations[i].Manner, Sealed: g.draw.chance(3), ContinueOnError: g.draw.chance(2)}
		}
	}
}

// policies adds policies that check the program's resources, from some operation on.
func (g *generator) policies(c *Case) {
	var all []Policy
	kinds := []string{string(Advise), string(Remedy), string(AdviseOnStack), string(Remedy), string(Advise)}
	if !g.programs.quiet {
		kinds = append(kinds, string(Mandate), string(MandateOnStack))
	}
	first := g.draw.IntN(len(c.Operations))
	program := c.Operations[first].Program
	for range 1 + g.draw.IntN(4) {
		p := Policy{Do: PolicyKind(g.draw.pick(kinds...)), Property: g.draw.pick(plainNames...)}
		if len(program) > 0 && g.draw.IntN(4) > 0 {
			d := program[g.draw.IntN(len(program))]
			p.Name, p.Property = d.Name, g.draw.pick(append(sorted(d.Values), p.Property)...)
		}
		all = append(all, p)
	}
	limit := g.draw.IntN(3)
	for i := first; i < len(c.Operations); i++ {
		c.Operations[i].Policies, c.Operations[i].AnalyzeLimit = all, limit
	}
}

// stages puts stages into the slots of the engine, from some operation on.
func (g *generator) stages(c *Case) {
	first := g.draw.IntN(len(c.Operations))
	names := namesOf(c.Operations[first].Program)
	var all []Stage
	for range 1 + g.draw.IntN(4) {
		s := Stage{
			In: SlotName(g.draw.pick("registered", "located", "checked", "analyzed", "diffed", "built", "executed", "deleting", "deleted", "standard")),
			Do: StageKind(g.draw.pick("watch", "delay")), Workers: g.draw.IntN(4),
		}
		if s.In == Registered && g.draw.chance(2) {
			s.Do = Change
		}
		if s.Do != Watch && g.draw.IntN(3) > 0 {
			s.Name = g.draw.pick(names...)
		}
		if !g.programs.quiet && s.In != Registered && s.In != Deleted && s.In != Standard && g.draw.chance(6) {
			s.Do, s.Name = Refuse, g.draw.pick(names...)
		}
		all = append(all, s)
	}
	for i := first; i < len(c.Operations); i++ {
		c.Operations[i].Stages = all
	}
}

func (g *generator) landing() Landing { return []Landing{1, 2, 1, 2, 3, -1}[g.draw.IntN(6)] }

// runProgram may make a refresh or a destroy run the program, or make an update run it during its refresh.
func (g *generator) runProgram(o *Operation, program []Declaration) {
	switch {
	case o.Do == Import, o.Do == Update && !o.Refresh:
	case g.draw.chance(2):
		o.RunProgram, o.Program = true, program
	}
}

// loseCreate may make a plugin die while it creates one of the declared resources.
func (g *generator) loseCreate(o *Operation) {
	things := ofKind(o.Program, Thing)
	if o.Do != Update || len(things) == 0 || g.programs.quiet || !g.draw.chance(5) {
		return
	}
	o.Failures = append([]Failure{{Method: "create", Name: g.draw.pick(things...), Nth: g.draw.IntN(2), Applied: g.draw.chance(2), Died: true}}, o.Failures...)
}

// byProgram returns one more operation, most likely a refresh or destroy that runs the program.
func (g *generator) byProgram(i int, program []Declaration, manner Manner) Operation {
	o := g.operation(i, program, manner)
	o.Do, o.Program, o.RunProgram = Update, program, true
	switch g.draw.IntN(8) {
	case 0, 1, 2:
		o.Do = Refresh
	case 3, 4, 5:
		o.Do = Destroy
	case 6:
		o.Refresh = true
	}
	return o
}

func (g *generator) operation(i int, program []Declaration, manner Manner) Operation {
	o := Operation{Do: Update, Program: program, Manner: manner, Flags: Flags{Version: g.version()}}
	if i > 0 {
		switch g.draw.IntN(12) {
		case 10:
			o.Do, o.Program = Refresh, nil
		case 11:
			o.Do, o.Program = Destroy, nil
		case 9:
			if g.draw.chance(2) {
				o.Do, o.Program = Import, g.imports(program)
			}
		}
	}
	names := namesOf(program)
	some := func() []string {
		out := []string{g.draw.pick(names...)}
		if g.draw.chance(2) {
			out = append(out, g.draw.pick(names...))
		}
		return out
	}
	if o.Refresh = g.draw.chance(10); o.Refresh && g.draw.chance(3) {
		o.RefreshOnly = some()
	}
	if i > 0 && g.draw.chance(8) {
		switch g.draw.IntN(3) {
		case 0:
			o.Targets = some()
		case 1:
			o.Excludes = some()
		case 2:
			o.Replace = some()
		}
		o.Dependents = g.draw.chance(2)
	}
	if i > 0 && g.draw.chance(3) {
		for range 1 + g.draw.IntN(3) {
			o.Before = append(o.Before, g.edit(names))
		}
	}
	o.IgnoreProtect = g.draw.chance(10)
	o.Planned = g.draw.chance(3)
	o.Pending = g.draw.pick("", "create", "clear", "create", "")
	if g.programs.quiet {
		return o
	}
	o.ContinueOnError = g.draw.IntN(3) > 0
	o.Stubborn, o.Omits = g.draw.chance(3), g.draw.chance(2)
	if g.draw.chance(2) {
		for range 1 + g.draw.IntN(3) {
			o.Failures = append(o.Failures, g.failure(names))
		}
	}
	switch g.draw.IntN(16) {
	case 13:
		o.Throw = 1 + g.draw.IntN(len(program))
	case 14:
		o.Interrupt, o.Cancel = 1+g.draw.IntN(40), g.draw.chance(2)
	case 15:
		o.Crash = 1 + g.draw.IntN(24)
	}
	return o
}

func (g *generator) version() string {
	if g.draw.chance(10) {
		return "2.0.0"
	}
	return ""
}

func (g *generator) failure(names []string) Failure {
	f := Failure{Method: g.draw.pick("create", "update", "delete", "create", "update", "delete", "read", "diff", "check", "configure"), Name: g.draw.pick(names...)}
	f.Nth = g.draw.IntN(3)
	f.Applied = g.draw.chance(4)
	f.Died = g.draw.chance(5)
	return f
}

func (g *generator) edit(names []string) Edit {
	kinds := []EditKind{
		Taint, Protect, Unprotect, Retain, PendingReplacement, OldCopy, PendingOperation, Interrupted, Drift, Vanish, Foreign,
		Taint, Drift, Vanish, Drift,
	}
	e := Edit{Do: kinds[g.draw.IntN(len(kinds))], Name: g.draw.pick(names...)}
	if e.Do == Foreign {
		e.Name = g.programs.foreign()
	}
	return e
}

// imports returns declarations of objects to import.
func (g *generator) imports(program []Declaration) []Declaration {
	var out []Declaration
	for range 1 + g.draw.IntN(3) {
		d := Declaration{Name: g.draw.pick(namesOf(program)...), ID: g.programs.foreign()}
		if g.draw.chance(2) {
			d.Name = g.programs.newName()
		}
		if g.draw.chance(5) {
			d.Kind, d.ID = Component, ""
		}
		if g.draw.chance(3) {
			d.Parent = g.draw.pick(namesOf(append(program, out...))...)
		}
		if ps := ofKind(program, Provider); len(ps) > 0 && g.draw.chance(2) {
			d.Provider = g.draw.pick(ps...)
		}
		d.Protect = g.draw.chance(3)
		out = append(out, d)
	}
	return out
}
