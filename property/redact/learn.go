package redact

import (
	"strconv"

	"github.com/sluice-iac/sluice/property"
)

// Learn adds everything in m that is marked as secret: each text and number in it by itself, the texts of assets too, and lists and objects
// as JSON, which is how programs write them into messages.
func (s *Set) Learn(m property.Map) {
	if s == nil {
		return
	}
	for _, v := range m.Unordered() {
		s.learn(v)
	}
}

// LearnValue is [Set.Learn] for one value.
func (s *Set) LearnValue(v property.Value) {
	if s != nil {
		s.learn(v)
	}
}

// learn looks for secrets in a value that is none.
func (s *Set) learn(v property.Value) {
	inner, secret := v.Unwrap()
	if secret {
		s.addAll(inner)
		return
	}
	switch {
	case inner.IsArray():
		for _, e := range inner.AsArray().All() {
			s.learn(e)
		}
	case inner.IsMap():
		s.Learn(inner.AsMap())
	case inner.IsArchive():
		s.Learn(inner.AsArchive().Members)
	}
}

// addAll adds what is in a secret. A secret that nobody has decrypted is null.
func (s *Set) addAll(v property.Value) {
	v, _ = v.Unwrap()
	switch {
	case v.IsString():
		s.Add(v.AsString())
	case v.IsNumber():
		s.Add(strconv.FormatFloat(v.AsNumber(), 'f', -1, 64))
	case v.IsAsset():
		s.Add(v.AsAsset().Text)
	case v.IsReference():
		s.addAll(v.AsReference().ID)
	case v.IsArchive():
		for _, e := range v.AsArchive().Members.Unordered() {
			s.addAll(e)
		}
	case v.IsArray():
		for _, e := range v.AsArray().All() {
			s.addAll(e)
		}
		s.addDocument(v)
	case v.IsMap():
		for _, e := range v.AsMap().Unordered() {
			s.addAll(e)
		}
		s.addDocument(v)
	}
}

// addDocument adds the JSON text of a list or object of plain values.
func (s *Set) addDocument(v property.Value) {
	if plain, ok := plain(v); ok {
		s.Add(asJSON(plain))
	}
}

// plain returns a value for package json; ok is false if something in it has no form in JSON.
func plain(v property.Value) (out any, ok bool) {
	if v.IsSealed() {
		return nil, false
	}
	v, _ = v.Unwrap()
	switch {
	case v.IsNull():
		return nil, true
	case v.IsBool():
		return v.AsBool(), true
	case v.IsNumber():
		return v.AsNumber(), true
	case v.IsString():
		return v.AsString(), true
	case v.IsArray():
		list := make([]any, v.AsArray().Len())
		for i, e := range v.AsArray().All() {
			if list[i], ok = plain(e); !ok {
				return nil, false
			}
		}
		return list, true
	case v.IsMap():
		object := make(map[string]any, v.AsMap().Len())
		for k, e := range v.AsMap().Unordered() {
			if object[k], ok = plain(e); !ok {
				return nil, false
			}
		}
		return object, true
	}
	return nil, false
}
