package yaml_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/source/internal/monitortest"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// describeRecord describes the requests of a program to the monitor. Independent resources arrive in any order, so they
// are sorted by name.
func describeRecord(r monitortest.Record) string {
	var b strings.Builder
	for i, p := range r.Packages {
		fmt.Fprintf(&b, "register package-%d: %s\n", i+1, describePackage(p))
	}
	inOrder(&b, r.Registered, func(req *stages.RegisterRequest) string { return req.Name }, describeRegistration)
	inOrder(&b, r.Reads, func(req *stages.ReadRequest) string { return req.Name }, func(b *strings.Builder, req *stages.ReadRequest) {
		fmt.Fprintf(b, "read %s %s id=%s\n", req.Type, req.Name, show(req.ID))
		describeMap(b, req.Properties)
		describeFields(b, *req)
	})
	inOrder(&b, r.Invokes, func(req *stages.InvokeRequest) string { return req.Token }, func(b *strings.Builder, req *stages.InvokeRequest) {
		fmt.Fprintf(b, "invoke %s\n", req.Token)
		describeMap(b, req.Args)
		describeFields(b, *req)
	})
	for _, u := range slices.Sorted(maps.Keys(r.Outputs)) {
		fmt.Fprintf(&b, "outputs of %s\n", short(u))
		describeMap(&b, r.Outputs[u])
	}
	for _, l := range r.Logs {
		fmt.Fprintf(&b, "%s: %s", l.Severity, l.Message)
		for _, a := range l.Advice {
			fmt.Fprintf(&b, "  advice: %s\n", a)
		}
	}
	return b.String()
}

// inOrder writes items sorted by their names, and by their text where names are equal.
func inOrder[T any](b *strings.Builder, items []T, name func(T) string, describe func(*strings.Builder, T)) {
	texts := make([][2]string, len(items))
	for i, item := range items {
		var own strings.Builder
		describe(&own, item)
		texts[i] = [2]string{name(item), own.String()}
	}
	slices.SortFunc(texts, func(x, y [2]string) int { return cmp.Or(strings.Compare(x[0], y[0]), strings.Compare(x[1], y[1])) })
	for _, t := range texts {
		b.WriteString(t[1])
	}
}

func describeRegistration(b *strings.Builder, req *stages.RegisterRequest) {
	kind := "component"
	if req.Custom {
		kind = "custom"
	}
	if req.Remote {
		kind = "remote component"
	}
	fmt.Fprintf(b, "register %s %s %s\n", kind, req.Type, req.Name)
	describeMap(b, req.Inputs)
	for _, name := range sortedKeys(req.PropertyDependencies) {
		if us := req.PropertyDependencies[name]; len(us) > 0 {
			fmt.Fprintf(b, "    %s depends on %s\n", name, shorts(us))
		}
	}
	describeFields(b, *req)
}

func describeMap(b *strings.Builder, m property.Map) {
	for name, v := range m.All() {
		fmt.Fprintf(b, "  %s: %s\n", name, show(v))
	}
}

// describeFields writes the fields of a request that have a value, except those that every request has or that are shown already.
func describeFields(b *strings.Builder, req any) {
	v := reflect.ValueOf(req)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Name, v.Field(i)
		if field.IsZero() || slices.Contains([]string{"Type", "Name", "Custom", "Remote", "Inputs", "PropertyDependencies", "AliasSpecs",
			"SupportsResultReporting", "Properties", "ID", "Token", "Args", "Ordered"}, name) {
			continue
		}
		var text string
		switch x := field.Interface().(type) {
		case urn.URN:
			if text = short(x); name == "Parent" && strings.HasPrefix(text, "pulumi:pulumi:Stack::") {
				continue
			}
		case []urn.URN:
			text = shorts(x)
		case property.Value:
			text = show(x)
		case stages.Package:
			if text = describePackage(x); !strings.Contains(text, " ") {
				continue
			}
		case *bool:
			text = fmt.Sprint(*x)
		case map[string]string:
			for _, k := range sortedKeys(x) {
				text += k + "=" + shortRef(x[k]) + " "
			}
		case string:
			text = shortRef(x)
		default:
			text = fmt.Sprintf("%+v", x)
		}
		if kind := field.Kind(); (kind == reflect.Slice || kind == reflect.Map) && field.Len() == 0 {
			continue
		}
		fmt.Fprintf(b, "    %s: %s\n", name, strings.TrimSpace(text))
	}
}

// short returns a URN without its constant parts.
func short(u urn.URN) string { return strings.TrimPrefix(string(u), "urn:pulumi:dev::proj::") }

func shortRef(s string) string { return strings.ReplaceAll(s, "urn:pulumi:dev::proj::", "") }

func shorts(us []urn.URN) string {
	var out []string
	for _, u := range us {
		out = append(out, short(u))
	}
	return strings.Join(out, ", ")
}

// show returns a value as text.
func show(v property.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.IsBool():
		return fmt.Sprint(v.AsBool())
	case v.IsNumber():
		return fmt.Sprint(v.AsNumber())
	case v.IsString():
		return fmt.Sprintf("%q", shortRef(v.AsString()))
	case v.IsUnknown():
		return "unknown"
	case v.IsSecret():
		return "secret(" + show(v.AsSecret()) + ")"
	case v.IsReference():
		return "&" + short(v.AsReference().URN) + " id=" + show(v.AsReference().ID)
	case v.IsArray():
		var items []string
		for _, item := range v.AsArray().All() {
			items = append(items, show(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case v.IsMap():
		var items []string
		for name, item := range v.AsMap().All() {
			items = append(items, name+": "+show(item))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case v.IsOutput():
		o := v.AsOutput()
		s := "unknown"
		if o.Known {
			s = show(o.Element)
		}
		if o.Secret {
			s = "secret " + s
		}
		return "output(" + s + " from " + shorts(o.Dependencies) + ")"
	case v.IsAsset():
		a := v.AsAsset()
		return fmt.Sprintf("asset(%q)", a.Text+a.Path+a.URI)
	}
	a := v.AsArchive()
	if a.Kind == property.KindMembers {
		return "archive(" + show(property.Of(a.Members)) + ")"
	}
	return fmt.Sprintf("archive(%q)", a.Path+a.URI)
}
