package check

import (
	"context"
	"fmt"

	"github.com/sourcegraph/conc/pool"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/source/yaml/internal/ast"
	"github.com/sluice-iac/sluice/source/yaml/internal/bind"
	"github.com/sluice-iac/sluice/source/yaml/internal/packages"
	"github.com/sluice-iac/sluice/source/yaml/internal/schema"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// directory maps a token to its package, and to its meaning there (protocol.md 11.4).
type directory struct {
	scope      *bind.Scope
	candidates map[origin][]candidate
	found      map[lookup]*member
}

// origin is a package and version in which tokens are looked up.
type origin struct{ pkg, version, url string }

// candidate is a package that may have a token.
type candidate struct {
	pkg    stages.Package
	schema *schema.Package
	err    error
}

// memberKind is a kind of member of packages.
type memberKind string

const (
	typeMember     memberKind = "type"
	functionMember memberKind = "function"
)

type lookup struct {
	kind  memberKind
	token string
	from  origin
}

// member is the meaning of a token, or the reason why it has none.
type member struct {
	candidate
	token   string // the full token
	problem string
	hint    string
	advice  []advice.Advice
}

// openDirectory requests the schemas of all packages that a program mentions, all at once.
func openDirectory(ctx context.Context, program *bind.Program, o Options) *directory {
	d := &directory{scope: program.Scope, candidates: map[origin][]candidate{}, found: map[lookup]*member{}}
	var order []origin
	program.Template.Mentions(func(m ast.Mention) {
		from := d.origin(m)
		if urn.CheckPackageName("package", from.pkg) != nil {
			return
		}
		if _, known := d.candidates[from]; !known {
			d.candidates[from] = serving(from, o.Packages.List)
			order = append(order, from)
		}
	})
	p := pool.New().WithMaxGoroutines(16)
	for _, from := range order {
		list := d.candidates[from]
		for i := range list {
			p.Go(func() { list[i].schema, list[i].err = o.Schemas.Of(ctx, list[i].pkg) })
		}
	}
	p.Wait()
	return d
}

// origin returns the origin of a token: a default provider sets the version of its package.
func (d *directory) origin(m ast.Mention) origin {
	o := origin{pkg: ast.PackageOf(m.Token.Value), version: m.Version.Value, url: m.URL.Value}
	if p := d.scope.Default(o.pkg); p != nil && m.Provider == nil {
		theirs := p.Resource.Options
		if o.version == "" {
			o.version = theirs.Version.Value
		}
		if o.url == "" {
			o.url = theirs.PluginDownloadURL.Value
		}
	}
	return o
}

// serving lists the packages that may serve the tokens of an origin: those of the lock files, and the plugin of the same name unless it is
// among them.
func serving(from origin, locked []stages.Package) []candidate {
	var list []candidate
	needsBase := true
	for _, pkg := range locked {
		if packages.Namespace(pkg) != from.pkg {
			continue
		}
		needsBase = needsBase && pkg.Extension != nil
		if from.version != "" {
			pkg.Version = from.version
		}
		if from.url != "" {
			pkg.DownloadURL = from.url
		}
		list = append(list, candidate{pkg: pkg})
	}
	if needsBase {
		list = append(list, candidate{pkg: stages.Package{Name: from.pkg, Version: from.version, DownloadURL: from.url}})
	}
	return list
}

// find returns the member for a token.
func (d *directory) find(k memberKind, m ast.Mention) *member {
	key := lookup{k, m.Token.Value, d.origin(m)}
	found := d.found[key]
	if found == nil {
		found = d.look(key)
		d.found[key] = found
	}
	return found
}

// look tries one package after the other.
func (d *directory) look(l lookup) *member {
	resolve, names := (*schema.Package).ResolveResource, (*schema.Package).ResourceTokens
	if l.kind == functionMember {
		resolve, names = (*schema.Package).ResolveFunction, (*schema.Package).FunctionTokens
	}
	if err := urn.CheckPackageName("package", l.from.pkg); err != nil {
		return &member{problem: fmt.Sprintf("%q names no %s: %v", l.token, l.kind, err)}
	}
	var known []string
	for _, c := range d.candidates[l.from] {
		if c.err != nil {
			return &member{problem: fmt.Sprintf("cannot load the schema of package %q: %v", l.from.pkg, c.err), advice: advice.Of(c.err)}
		}
		if full, ok := resolve(c.schema, l.token); ok {
			return &member{candidate: c, token: full}
		}
		known = append(known, names(c.schema)...)
	}
	return &member{
		problem: fmt.Sprintf("the package %s has no %s %q", l.from.pkg, l.kind, l.token), hint: syntax.Nearest(l.token, known),
	}
}
