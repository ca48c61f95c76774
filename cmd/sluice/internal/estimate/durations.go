package estimate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/urn"
)

// note is the name of the note of a stack.
const note = "durations"

// Limits on the record of one stack, so that it takes at most about 300 KB.
const (
	maxResources = 5000 // those that took longest
	maxTypes     = 500
	maxTypeName  = 200 // bytes; longer types are not recorded
)

// Durations are how long operations took. They are not safe for concurrent use.
type Durations struct {
	resources map[resourceKey]time.Duration
	types     map[typeKey]average
}

// average is the average of some durations.
type average struct {
	Count int           `json:"count"`
	Mean  time.Duration `json:"mean"`
}

// mostCounted is the number of durations from which each new one has the same weight.
const mostCounted = 20

func (a average) with(took time.Duration) average {
	a.Count = min(a.Count+1, mostCounted)
	a.Mean += (took - a.Mean) / time.Duration(a.Count)
	return a
}

func newDurations() *Durations {
	return &Durations{resources: map[resourceKey]time.Duration{}, types: map[typeKey]average{}}
}

// verb is the provider call of a step, "" if there is none.
func verb(op stages.Op) string {
	switch op {
	case stages.OpCreate, stages.OpCreateReplacement:
		return "create"
	case stages.OpDelete, stages.OpDeleteReplaced:
		return "delete"
	case stages.OpRead, stages.OpReadReplacement:
		return "read"
	case stages.OpImport, stages.OpImportReplacement:
		return "import"
	case stages.OpUpdate, stages.OpRefresh:
		return string(op)
	}
	return ""
}

// resourceKey identifies an operation on a resource, in a fixed number of bytes.
type resourceKey struct {
	verb string
	name [8]byte // of the digest of the URN
}

func resourceKeyOf(op stages.Op, u urn.URN) resourceKey {
	digest := sha256.Sum256([]byte(u))
	return resourceKey{verb(op), [8]byte(digest[:])}
}

// MarshalText returns the form of the key in the note.
func (k resourceKey) MarshalText() ([]byte, error) {
	return hex.AppendEncode([]byte(k.verb+" "), k.name[:]), nil
}

// UnmarshalText parses the result of MarshalText.
func (k *resourceKey) UnmarshalText(text []byte) error {
	verb, name, _ := strings.Cut(string(text), " ")
	digest, err := hex.DecodeString(name)
	if err != nil || len(digest) != len(k.name) {
		return fmt.Errorf("%q is not an operation on a resource", text)
	}
	*k = resourceKey{verb, [8]byte(digest)}
	return nil
}

func (k resourceKey) compare(other resourceKey) int {
	return cmp.Or(cmp.Compare(k.verb, other.verb), bytes.Compare(k.name[:], other.name[:]))
}

// typeKey identifies an operation on resources of a type.
type typeKey struct {
	verb string
	typ  urn.Type
}

// MarshalText returns the form of the key in the note.
func (k typeKey) MarshalText() ([]byte, error) { return []byte(k.verb + " " + string(k.typ)), nil }

// UnmarshalText parses the result of MarshalText.
func (k *typeKey) UnmarshalText(text []byte) error {
	verb, typ, _ := strings.Cut(string(text), " ")
	*k = typeKey{verb, urn.Type(typ)}
	return nil
}

func (k typeKey) compare(other typeKey) int {
	return cmp.Or(cmp.Compare(k.verb, other.verb), cmp.Compare(k.typ, other.typ))
}

// add records the duration of an operation that has succeeded.
func (d *Durations) add(op stages.Op, u urn.URN, took time.Duration) {
	if verb(op) == "" {
		return
	}
	key := resourceKeyOf(op, u)
	if before, known := d.resources[key]; known {
		took = (before + took) / 2
	}
	d.resources[key] = took
	if typ := u.Type(); len(typ) <= maxTypeName {
		key := typeKey{verb(op), typ}
		d.types[key] = d.types[key].with(took)
	}
}

// enough is the number of durations that an average needs to be used.
const enough = 3

// of returns the expected duration of an operation, and whether there is one: from the resource itself, else from others of
// its type.
func (d *Durations) of(op stages.Op, u urn.URN) (time.Duration, bool) {
	if took, known := d.resources[resourceKeyOf(op, u)]; known {
		return took, true
	}
	a := d.types[typeKey{verb(op), u.Type()}]
	return a.Mean, a.Count >= enough
}

// trim drops records above the limits: the resources that took least, and the rarest types.
func (d *Durations) trim() {
	trim(d.resources, maxResources, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	trim(d.types, maxTypes, func(a, b average) int { return cmp.Compare(b.Count, a.Count) })
}

type key[K any] interface {
	comparable
	compare(K) int
}

func trim[K key[K], V any](all map[K]V, most int, order func(a, b V) int) {
	if len(all) <= most {
		return
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b K) int { return cmp.Or(order(all[a], all[b]), a.compare(b)) })
	for _, key := range keys[most:] {
		delete(all, key)
	}
}

// file is the form of the note. Durations are in nanoseconds.
type file struct {
	Version   int                           `json:"version"`
	Resources map[resourceKey]time.Duration `json:"resources"`
	Types     map[typeKey]average           `json:"types"`
}

// Read returns the record of a stack. It serves only to estimate, so it is empty if it cannot be read.
func Read(ctx context.Context, s *session.Stack) *Durations {
	d := newDurations()
	content, err := s.Notes(ctx).Read(note)
	var f file
	if err != nil || json.Unmarshal(content, &f) != nil || f.Version != 1 {
		return d
	}
	maps.Copy(d.resources, f.Resources)
	maps.Copy(d.types, f.Types)
	d.trim()
	return d
}

// Keep records the durations of the operations of a run.
func Keep(ctx context.Context, s *session.Stack, w *Work) {
	content, err := w.durations()
	if err == nil && content != nil {
		err = s.Notes(ctx).Write(note, content)
	}
	if err != nil {
		s.Session.Terminal.Warn("the durations of this operation were not recorded for later estimates: %v", err)
	}
}

// Forget removes the record of a stack.
func Forget(ctx context.Context, s *session.Stack) error { return s.Notes(ctx).Remove(note) }
