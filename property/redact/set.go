package redact

import (
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/property"
)

// Mask is shown in place of a secret.
const Mask = "[secret]"

// Set is a growing set of secrets. The zero Set is empty and ready to use; a nil *Set stays empty. It is safe for concurrent use.
type Set struct {
	mu    sync.RWMutex        // guards the fields below
	known map[string]struct{} // the secrets
	fresh []string            // those of them whose forms are not in the index yet
	index index
}

// Add adds a secret. Some texts are no secrets by themselves, and masking them would make messages unreadable, so they are
// not masked: texts of less than three bytes, numbers of less than four, and words such as "true" and "null". White space
// around a secret does not belong to it.
//
// The lines of a secret and the values in a JSON document are secrets of their own.
func (s *Set) Add(secret string) {
	secret = strings.TrimSpace(secret)
	if s == nil || !isTelling(secret) {
		return
	}
	s.mu.RLock()
	_, known := s.known[secret]
	s.mu.RUnlock()
	if known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.known[secret]; known {
		return
	}
	if s.known == nil {
		s.known = map[string]struct{}{}
	}
	s.known[secret] = struct{}{}
	s.fresh = append(s.fresh, secret)
}

// Mask returns text with every secret in it replaced by [Mask]. Secrets that overlap or touch are replaced by one. Masking a
// text twice is the same as masking it once. The text before the note of [Cut] is replaced too if a secret may begin with it.
func (s *Set) Mask(text string) string {
	if s == nil || len(text) < minForm {
		return text
	}
	x, release := s.forms(strings.Contains(text, noteBegins))
	defer release()
	return x.mask(text)
}

// forms returns the index with the forms of all secrets, in order if ordered is true. Nothing changes it until release is
// called.
func (s *Set) forms(ordered bool) (x *index, release func()) {
	s.mu.RLock()
	for len(s.fresh) > 0 || ordered && !s.index.isOrdered() {
		s.mu.RUnlock()
		s.update(ordered)
		s.mu.RLock()
	}
	return &s.index, s.mu.RUnlock
}

// update adds the forms of new secrets to the index. That waits until a text is to be masked: most runs learn
// many secrets and mask few texts.
func (s *Set) update(ordered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.fresh
	s.fresh = nil
	for len(fresh) > 0 {
		secret := fresh[len(fresh)-1]
		fresh = fresh[:len(fresh)-1]
		for form := range forms(secret) {
			s.index.add(form)
		}
		for part := range parts(secret) {
			if _, known := s.known[part]; !known {
				s.known[part] = struct{}{}
				fresh = append(fresh, part)
			}
		}
	}
	if ordered {
		s.index.order()
	}
}

// Error returns err if its text contains no secret and has no more than [MaxMessage] bytes. Otherwise it returns an error with the
// masked text, cut at that length. That error wraps err, so [errors.As] and [errors.Is] work as before; the texts of errors found
// that way are not masked.
func (s *Set) Error(err error) error {
	if s == nil || err == nil {
		return err
	}
	text := err.Error()
	if masked := s.Mask(Cut(text, MaxMessage)); masked != text {
		return &maskedError{masked, err}
	}
	return err
}

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

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

// Handler returns a handler that hands records to h without the secrets in their messages and attributes. An attribute whose
// value contains a secret becomes a text.
func (s *Set) Handler(h slog.Handler) slog.Handler {
	if s == nil {
		return h
	}
	return &handler{h, s}
}

// Stream returns a stream that masks the secrets of s. Those of a nil *Set return pieces as they are.
func (s *Set) Stream() *Stream { return &Stream{set: s, covered: -1} }
