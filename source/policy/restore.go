package policy

import (
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
)

// restore puts back into remediated properties the values that packs cannot return or lose by accident, if they are otherwise unchanged:
// references to resources, which packs get as IDs, and the hashes of assets. A secret stays secret, even if a policy has changed it: a copy
// of an object, `{...args.props}`, has lost that mark.
func restore(before, after property.Map) property.Map {
	out := after.Mutable()
	for name, v := range out {
		if was, ok := before.Get(name); ok {
			out[name] = restoreValue(was, v)
		}
	}
	return property.NewMap(out)
}

func restoreValue(was, is property.Value) property.Value {
	if inner, secret := was.Unwrap(); secret {
		plain, _ := is.Unwrap()
		return property.MakeSecret(restoreValue(inner, plain))
	}
	if inner, secret := is.Unwrap(); secret {
		return property.MakeSecret(restoreValue(was, inner))
	}
	switch {
	case was.IsReference():
		if property.Equal(downgraded(was), is) {
			return was
		}
	case was.IsAsset() && is.IsAsset():
		w, i := was.AsAsset(), is.AsAsset()
		if w.Kind == i.Kind && w.Path == i.Path && w.Text == i.Text && w.URI == i.URI {
			return was
		}
	case was.IsArchive() && is.IsArchive():
		w, i := was.AsArchive(), is.AsArchive()
		if w.Kind == i.Kind && w.Kind != property.KindMembers && w.Path == i.Path && w.URI == i.URI {
			return was
		}
	case was.IsMap() && is.IsMap():
		return property.Of(restore(was.AsMap(), is.AsMap()))
	case was.IsArray() && is.IsArray():
		list := make([]property.Value, 0, is.AsArray().Len())
		for n, v := range is.AsArray().All() {
			if n < was.AsArray().Len() {
				v = restoreValue(was.AsArray().At(n), v)
			}
			list = append(list, v)
		}
		return property.ArrayOf(list...)
	}
	return is
}

// conceal marks texts as secret that a policy has written and that contain one of the secrets: a policy that copies a secret to another
// place, or into a longer text, has lost its mark. Unchanged values stay as they were.
func conceal(secrets *redact.Set, before, after property.Map) property.Map {
	out := after.Mutable()
	for name, v := range out {
		out[name] = concealValue(secrets, before.At(name), v)
	}
	return property.NewMap(out)
}

func concealValue(secrets *redact.Set, was, is property.Value) property.Value {
	switch {
	case property.Equal(was, is):
	case is.IsString() && secrets.Mask(is.AsString()) != is.AsString(),
		is.IsAsset() && secrets.Mask(is.AsAsset().Text) != is.AsAsset().Text:
		return property.MakeSecret(is)
	case is.IsMap():
		var inside property.Map
		if was.IsMap() {
			inside = was.AsMap()
		}
		return property.Of(conceal(secrets, inside, is.AsMap()))
	case is.IsArray():
		list := make([]property.Value, 0, is.AsArray().Len())
		for n, v := range is.AsArray().All() {
			inside := property.Null
			if was.IsArray() && n < was.AsArray().Len() {
				inside = was.AsArray().At(n)
			}
			list = append(list, concealValue(secrets, inside, v))
		}
		return property.ArrayOf(list...)
	}
	return is
}

// downgraded returns a value in the form in which a pack gets it.
func downgraded(v property.Value) property.Value {
	const name = "v"
	s, err := encode(property.NewMap(map[string]property.Value{name: v}))
	if err != nil {
		return property.Null
	}
	m, err := property.UnmarshalStruct(s, property.WireOptions{Unknowns: property.KeepUnknowns, KeepSecrets: true})
	if err != nil {
		return property.Null
	}
	return m.At(name)
}
