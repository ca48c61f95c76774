package simulate

import (
	"fmt"
	"maps"
	"slices"
)

// programGenerator draws the programs of a case.
type programGenerator struct {
	draw  draw
	used  int  // the number of names used
	quiet bool // nothing fails in this history
	tame  bool // leave out everything that makes the order of arrival matter
}

// newName returns a name that no other resource of the case has.
func (g *programGenerator) newName() string {
	g.used++
	return fmt.Sprintf("r%d", g.used)
}

// program declares n resources, each of which refers to earlier ones only.
func (g *programGenerator) program(n int) []Declaration {
	var out []Declaration
	if g.draw.chance(3) {
		out = append(out, Declaration{Kind: Stack, Name: "p-dev"})
	}
	for range n {
		out = append(out, g.declaration(out))
	}
	return g.withExports(out)
}

// withExports adds exports of some resources' outputs to a program that declares its stack.
func (g *programGenerator) withExports(program []Declaration) []Declaration {
	if len(program) == 0 || program[0].Kind != Stack {
		return program
	}
	var names []string
	for _, d := range program[1:] {
		if g.draw.chance(3) {
			names = append(names, d.Name)
		}
	}
	program[0].Exports, program[0].Secret = names, nil
	for _, name := range names {
		if g.draw.chance(3) {
			program[0].Secret = append(program[0].Secret, name)
		}
	}
	return program
}

// declaration returns one declaration that may refer to those before it.
func (g *programGenerator) declaration(before []Declaration) Declaration {
	d := Declaration{Name: g.newName()}
	if len(before) > 0 && g.draw.chance(80) {
		d.Name = before[g.draw.IntN(len(before))].Name
	}
	switch g.draw.IntN(20) {
	case 14, 15, 16:
		d.Kind = Component
	case 17, 18:
		d.Kind = Provider
	case 19:
		d.Kind, d.ID = Reading, g.foreign()
		if before := ofKind(before, Thing); len(before) > 0 && g.draw.chance(3) {
			d.ID = "of " + g.draw.pick(before...)
		}
	}
	g.properties(&d, before)
	g.references(&d, before)
	g.options(&d)
	return d
}

// plainNames and fiercerNames are names of properties. The name determines the effect of a change of the property; see
// providertest and provider.go.
var plainNames, fiercerNames = []string{"value", "other", "immutable", "vague"}, []string{"value", "immutable", "dbr", "vague"}

func (g *programGenerator) properties(d *Declaration, before []Declaration) {
	names := fiercerNames
	if g.tame || d.Kind == Provider {
		names = plainNames
	}
	things := ofKind(before, Thing)
	for _, p := range names {
		switch {
		case g.draw.chance(2):
		case len(things) > 0 && g.draw.chance(2):
			set(&d.Refs, p, g.draw.pick(things...))
		default:
			set(&d.Values, p, g.draw.pick("a", "b", "c"))
		}
	}
	if d.Kind == Thing && g.draw.chance(12) {
		set(&d.Values, g.draw.pick("refreshed", "unavailable", "refreshed", "shown", "shown"), g.draw.pick("a", "b"))
	}
	if !g.quiet && g.draw.chance(60) {
		set(&d.Values, g.draw.pick("invalid", "unhealthy"), "a")
	}
	if g.draw.chance(10) {
		d.Secret = []string{g.draw.pick(names...)}
	}
}

func set(m *map[string]string, k, v string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[k] = v
}

func (g *programGenerator) references(d *Declaration, before []Declaration) {
	if len(before) == 0 {
		return
	}
	any := func() string { return before[g.draw.IntN(len(before))].Name }
	if g.draw.chance(4) {
		d.Parent = any()
	}
	if g.draw.chance(4) {
		d.DependsOn = []string{any()}
	}
	if things := ofKind(before, Thing); len(things) > 0 {
		if g.draw.chance(8) {
			d.DeletedWith = g.draw.pick(things...)
		}
		if g.draw.chance(8) {
			d.ReplaceWith = g.draw.pick(things...)
		}
	}
	if ps := ofKind(before, Provider); len(ps) > 0 && g.draw.chance(2) {
		d.Provider = g.draw.pick(ps...)
	}
}

func (g *programGenerator) options(d *Declaration) {
	if g.draw.chance(8) {
		d.Ignore = []string{g.draw.pick("value", "immutable")}
	}
	if g.draw.chance(8) {
		d.ReplaceOn = []string{g.draw.pick("other", "value", "*")}
	}
	if g.draw.chance(8) && !g.tame {
		yes := g.draw.chance(2)
		d.DeleteFirst = &yes
	}
	if g.draw.chance(8) {
		d.Trigger = "a"
	}
	if g.draw.chance(16) {
		d.SecretOutputs = []string{"arn"}
	}
	if g.draw.chance(14) {
		set(&d.Hooks, g.draw.pick("BeforeCreate", "AfterCreate", "BeforeUpdate", "AfterUpdate", "BeforeDelete", "OnError"), "well")
		if !g.quiet {
			for k := range d.Hooks {
				d.Hooks[k] = g.draw.pick("well", "ill")
			}
		}
	}
	d.Protect = g.draw.chance(16)
	d.Retain = g.draw.chance(14)
	d.Invokes = g.draw.chance(16)
	if d.Kind == Thing && g.draw.chance(24) {
		d.ID = g.foreign()
	}
}

// next returns the next version of a program: values change, resources are removed or renamed, and new ones are added.
func (g *programGenerator) next(in []Declaration) []Declaration {
	gone := map[string]bool{}
	waits := map[string][]string{} // the direct predecessors of each resource
	renamed := map[string]string{}
	var out []Declaration
	for _, d := range in {
		before := g.waitsOf(d, gone, waits)
		waits[d.Name] = before
		if d.Kind != Stack && g.draw.chance(8) {
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
	if !g.tame && g.draw.chance(4) {
		out = g.moved(out)
	}
	for range g.draw.IntN(3) {
		out = append(out, g.declaration(out))
	}
	if len(out) == 0 {
		return []Declaration{g.declaration(nil)}
	}
	return g.withExports(out)
}

// moved returns the program with one of its resources declared last, without the references to it.
func (g *programGenerator) moved(program []Declaration) []Declaration {
	things := ofKind(program, Thing)
	if len(things) == 0 {
		return program
	}
	name := g.draw.pick(things...)
	at := slices.IndexFunc(program, func(d Declaration) bool { return d.Name == name })
	d := program[at]
	return append(slices.Delete(slices.Clone(program), at, at+1), d)
}

// waitsOf lists the predecessors of a resource's registration. It replaces a removed resource by the predecessors of that.
func (g *programGenerator) waitsOf(d Declaration, gone map[string]bool, waits map[string][]string) []string {
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
func (g *programGenerator) changed(d Declaration, gone map[string]bool, renamed map[string]string) Declaration {
	c := d
	c.Values, c.Refs, c.Aliases, c.DependsOn = nil, nil, nil, nil
	for _, k := range sorted(d.Values) {
		switch v := d.Values[k]; {
		case g.draw.chance(3):
			set(&c.Values, k, g.draw.pick("d", "e"))
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
		if n := follow(d.Refs[k]); n != "" && !g.draw.chance(6) {
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
	if c.Parent != "" && g.draw.chance(16) {
		c.Aliases, c.Parent = append(c.Aliases, Alias{Parent: c.Parent}), ""
	}
	if g.draw.chance(12) {
		c.Name = g.newName()
		renamed[d.Name] = c.Name
		a := Alias{Name: d.Name}
		if len(c.Aliases) > 0 {
			c.Aliases[0].Name = d.Name
		} else if !g.draw.chance(6) {
			c.Aliases = []Alias{a}
		}
	}
	g.changeOptions(&c)
	return c
}

func (g *programGenerator) changeOptions(c *Declaration) {
	if g.draw.chance(12) {
		c.Protect = !c.Protect
	}
	if g.draw.chance(10) {
		c.Retain = !c.Retain
	}
	if c.Trigger != "" && g.draw.chance(2) {
		c.Trigger += "b"
	}
	if g.draw.chance(16) {
		c.Provider = ""
	}
	if g.draw.chance(10) {
		c.ID = ""
		if c.Kind == Reading {
			c.Kind = Thing
		}
	}
	if c.Kind == Thing && g.draw.chance(40) {
		c.Kind, c.ID = Reading, g.foreign()
	}
	if c.Kind == Thing && g.draw.chance(30) {
		c.ID = g.foreign()
	}
}

// named returns the program with generated names for some of its resources.
func (g *programGenerator) named(in []Declaration) []Declaration {
	out := slices.Clone(in)
	for i, d := range out {
		if d.Kind == Thing && g.draw.IntN(3) > 0 {
			out[i].Values = maps.Clone(d.Values)
			set(&out[i].Values, autoName, "a")
		}
	}
	return out
}

func (g *programGenerator) foreign() string { return fmt.Sprintf("foreign-%d", g.draw.IntN(2)) }

func ofKind(program []Declaration, k DeclarationKind) []string {
	var out []string
	for _, d := range program {
		if d.Kind == k {
			out = append(out, d.Name)
		}
	}
	return out
}

func namesOf(program []Declaration) []string {
	out := make([]string, 0, len(program)+1)
	for _, d := range program {
		out = append(out, d.Name)
	}
	return append(out, "nobody")
}
