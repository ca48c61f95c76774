package providers

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// RecordedAnswers are the answers of Check and Diff in earlier runs that said that nothing has changed, for the runs that follow. A request that is the
// same in every byte is answered without the provider, and a provider that is asked nothing is not started. Of each resource it keeps digests
// of the two requests, made with a secret key, and the random seed of the check.
//
// An answer counts only while the provider is the same, by [RecordedOptions].Identify, and has the same configuration. It is safe for
// concurrent use.
type RecordedAnswers struct {
	options RecordedOptions
	before  map[urn.URN]recordedAnswer

	mu      sync.Mutex // guards the fields below
	now     map[urn.URN]recordedAnswer
	changed map[urn.URN]bool // resources with another answer, whose seeds may have been used for a new object
	reused  map[urn.URN]time.Time
	wrong   map[string]bool // packages that have answered the same request differently
}

// RecordedOptions configure [RecordedAnswers]. Applies and Identify must be set.
type RecordedOptions struct {
	// Key is a secret of the stack from which the digests are made.
	Key []byte
	// Now is the time of the run, which answers of this run get. Answers with an earlier time than Oldest do not count.
	Now, Oldest time.Time
	// Applies reports whether answers about a type of a package may be used again. It decides about the packages that [LooksOutside] names, too.
	Applies func(pkg string, t urn.Type) bool
	// Identify returns a text that is different whenever another plugin, or the same in other circumstances, would serve spec; ok is false if that
	// cannot be known.
	Identify func(spec Spec) (identity string, ok bool)
	// Sampled reports whether the provider is called although the answer is known. Wrong is then called for an answer that is another one than
	// the recorded one; no other recorded answer of the package is used any more. Both may be nil.
	Sampled func(u urn.URN) bool
	Wrong   func(u urn.URN, pkg string, m Method)
}

// recordedAnswer says that nothing had changed when the requests with these digests were made. A digest is zero if there is none.
type recordedAnswer struct {
	check, diff requestDigest
	seed        []byte    // of the check
	since       time.Time // when the provider gave the answers, in whole seconds
}

// requestDigest is the digest of a request, with everything else on which its answer depends.
type requestDigest [16]byte

// recordedHeader is the first line of the encoding of [RecordedAnswers].
const recordedHeader = "sluice answers 1"

// NewRecordedAnswers returns the answers of earlier runs in the form that [RecordedAnswers.Encode] has returned; nil is none. An encoding that is
// damaged or too new is an error, and the result has no answers then.
func NewRecordedAnswers(o RecordedOptions, encoded []byte) (*RecordedAnswers, error) {
	r := &RecordedAnswers{
		options: o, before: map[urn.URN]recordedAnswer{}, now: map[urn.URN]recordedAnswer{}, changed: map[urn.URN]bool{},
		reused: map[urn.URN]time.Time{}, wrong: map[string]bool{},
	}
	if o.Applies == nil || o.Identify == nil {
		return r, errors.New("RecordedOptions need Applies and Identify")
	}
	if len(encoded) == 0 {
		return r, nil
	}
	before, err := decodeAnswers(string(encoded))
	if err != nil {
		return r, err
	}
	r.before = before
	return r, nil
}

var errBadAnswers = errors.New("these are not the answers of an earlier run, or they are damaged")

func decodeAnswers(text string) (map[urn.URN]recordedAnswer, error) {
	header, rest, _ := strings.Cut(text, "\n")
	if header != recordedHeader {
		return nil, errBadAnswers
	}
	out := make(map[urn.URN]recordedAnswer, strings.Count(rest, "\n"))
	for rest != "" {
		line, after, whole := strings.Cut(rest, "\n")
		fields := strings.SplitN(line, " ", 5)
		if !whole || len(fields) != 5 {
			return nil, errBadAnswers
		}
		seconds, err := strconv.ParseInt(fields[0], 10, 64)
		a := recordedAnswer{since: time.Unix(seconds, 0)}
		var seedErr error
		if a.seed, seedErr = base64.RawStdEncoding.DecodeString(fields[3]); err != nil || seedErr != nil {
			return nil, errBadAnswers
		}
		for i, to := range []*requestDigest{&a.check, &a.diff} {
			b, err := base64.RawStdEncoding.DecodeString(fields[1+i])
			if err != nil || len(b) != len(to) {
				return nil, errBadAnswers
			}
			copy(to[:], b)
		}
		out[urn.URN(fields[4])] = a
		rest = after
	}
	return out, nil
}

// Encode returns the answers that this run has used and got, for a later run. It is called when the run is over.
func (r *RecordedAnswers) Encode() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := bytes.NewBufferString(recordedHeader + "\n")
	text := base64.RawStdEncoding.EncodeToString
	for _, u := range slices.Sorted(maps.Keys(r.now)) {
		a := r.now[u]
		if a.check == (requestDigest{}) || a.diff == (requestDigest{}) || r.changed[u] || strings.Contains(string(u), "\n") {
			continue
		}
		fmt.Fprintf(b, "%d %s %s %s %s\n", a.since.Unix(), text(a.check[:]), text(a.diff[:]), text(a.seed), u)
	}
	return b.Bytes()
}

// Seed returns the random seed with which a resource was checked when nothing had changed; nil if there is none. The next check needs the same one.
func (r *RecordedAnswers) Seed(u urn.URN) []byte {
	if r == nil {
		return nil
	}
	return r.before[u].seed
}

// Reused returns the resources about which the provider was not asked in this run, with the times of the answers.
func (r *RecordedAnswers) Reused() map[urn.URN]time.Time {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.reused)
}

// recorder is the use of recorded answers by one provider. The zero value uses none.
type recorder struct {
	answers  *RecordedAnswers
	pkg      string
	identity []byte // of the provider and its configuration; nil if answers cannot be used
}

func (r recorder) isOn() bool { return r.answers != nil && r.identity != nil }

// hasAnswers reports whether there are answers of earlier runs that may be used.
func (r recorder) hasAnswers() bool { return r.isOn() && len(r.answers.before) > 0 }

// configured returns the recorder of a provider with a configuration.
func (r recorder) configured(u urn.URN, inputs property.Map) recorder {
	if !r.isOn() {
		return recorder{}
	}
	b := appendTexts(slices.Clone(r.identity), string(u))
	b, ok := property.AppendCanonical(b, inputs)
	if !ok {
		return recorder{}
	}
	r.identity = r.answers.sum(b)
	return r
}

// recorderFor returns the recorder of a provider without configuration.
func (r *RecordedAnswers) recorderFor(spec Spec) recorder {
	if r == nil {
		return recorder{}
	}
	identity, known := r.options.Identify(spec)
	if !known {
		return recorder{}
	}
	return recorder{answers: r, pkg: spec.Package, identity: r.sum(appendTexts(nil, spec.Key(), identity))}
}

func (r *RecordedAnswers) sum(b []byte) []byte {
	h := hmac.New(sha256.New, r.options.Key)
	h.Write(b)
	return h.Sum(nil)
}

// recorded returns the recorded answer to a request, or makes the call and records an answer that says that nothing has changed.
func recorded[Q, R any](r recorder, at question, request Q, of reusable[Q, R], call func() (R, error)) (R, error) {
	if !r.isOn() || !r.answers.options.Applies(r.pkg, of.typ(request)) {
		return call()
	}
	b, ok := of.encode(appendTexts(slices.Clone(r.identity), string(at.method)), request)
	if !ok {
		r.answers.change(at.urn)
		return call()
	}
	seed, possible := of.seed(request), of.unchanged(request)
	sampled := -1 // the known answer that is checked
	for n, answer := range possible {
		digest := r.answers.digest(append(b, byte(n)))
		if !r.answers.knows(at, r.pkg, digest) {
			continue
		}
		if r.answers.options.Sampled == nil || !r.answers.options.Sampled(at.urn) {
			r.answers.record(at, digest, seed, true)
			return answer, nil
		}
		sampled = n
	}
	response, err := call()
	given := -1
	if err == nil {
		given = slices.IndexFunc(possible, func(answer R) bool { return of.isOneOf(response, answer) })
	}
	if given >= 0 {
		r.answers.record(at, r.answers.digest(append(b, byte(given))), seed, false)
	} else {
		r.answers.change(at.urn)
	}
	if sampled >= 0 && err == nil && sampled != given {
		r.answers.refute(at, r.pkg)
	}
	return response, err
}

func (r *RecordedAnswers) digest(b []byte) requestDigest {
	return requestDigest(r.sum(b)[:len(requestDigest{})])
}

// knows reports whether the answer to a request is recorded and may be used.
func (r *RecordedAnswers) knows(at question, pkg string, d requestDigest) bool {
	a, found := r.before[at.urn]
	if !found || a.of(at.method) != d || a.since.Before(r.options.Oldest) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.wrong[pkg]
}

// of returns the digest of a method.
func (a recordedAnswer) of(m Method) requestDigest {
	if m == MethodCheck {
		return a.check
	}
	return a.diff
}

// record records an answer for the next run. reused is true if it is that of an earlier run.
func (r *RecordedAnswers) record(at question, d requestDigest, seed []byte, reused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.now[at.urn]
	a.since = r.options.Now
	if reused {
		a.since = r.before[at.urn].since
		r.reused[at.urn] = a.since
	}
	if at.method == MethodCheck {
		a.check, a.seed = d, seed
	} else {
		a.diff = d
	}
	r.now[at.urn] = a
}

// change records that a resource has changed: the next run gets no answer about it, and a new seed.
func (r *RecordedAnswers) change(u urn.URN) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed[u] = true
}

// refute makes the recorded answers of a package count no longer.
func (r *RecordedAnswers) refute(at question, pkg string) {
	r.mu.Lock()
	r.wrong[pkg] = true
	r.mu.Unlock()
	if r.options.Wrong != nil {
		r.options.Wrong(at.urn, pkg, at.method)
	}
}

// appendTexts appends texts and their number.
func appendTexts(b []byte, texts ...string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, t := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	return b
}

// appendMaps appends maps, if each has a canonical encoding.
func appendMaps(b []byte, maps ...property.Map) (_ []byte, ok bool) {
	for _, m := range maps {
		if b, ok = property.AppendCanonical(b, m); !ok {
			return b, false
		}
	}
	return b, true
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}
