package redact

import (
	"strconv"

	"github.com/sluice-iac/sluice/property"
)

// Learn adds everything in m that is marked as secret: each text and number by itself, the texts of assets too, and lists and objects as
// JSON, the form in which programs write them into messages.
func (s *Set) Learn(m property.Map) {
	if s == nil {
		return
	}
	for _, v := range m.All() {
		s.learn(v)
	}
}

// LearnValue is [Set.Learn] for one value.
func (s *Set) LearnValue(v property.Value) {
	if s != nil {
		s.learn(v)
	}
}

// learn looks for secrets in a value that is not secret itself.
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

// addAll adds the content of a secret. A secret that has not been decrypted is null.
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
		for _, e := range v.AsArchive().Members.All() {
			s.addAll(e)
		}
	case v.IsArray():
		for _, e := range v.AsArray().All() {
			s.addAll(e)
		}
		s.addDocument(v)
	case v.IsMap():
		for _, e := range v.AsMap().All() {
			s.addAll(e)
		}
		s.addDocument(v)
	}
}

// addDocument adds the JSON text of a list or object of plain values.
func (s *Set) addDocument(v property.Value) {
	if v.HasSealed() {
		return
	}
	if plain, ok := property.ToGo(v.StripSecretsAndOutputs()); ok {
		s.Add(asJSON(plain))
	}
}
