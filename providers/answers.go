package providers

import (
	"reflect"
	"slices"
	"sync"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/urn"
)

// Answers keeps the answers of Check and Diff of a preview for the update that follows it. A call of the update that has the arguments of an earlier
// call gets its answer, and the provider is not called. The arguments are the plugin, its configuration and everything in the request; values
// that are unknown, errors and refused inputs are never kept. The packages that [LooksOutside] names are always called.
//
// Preview and update need the same [RegistryOptions].NewID and the same random seeds, or the checks of new resources differ. Answers are safe for
// concurrent use. A nil Answers keeps nothing.
type Answers struct {
	identify func(Spec) (string, bool)

	mu       sync.Mutex // guards the fields below
	kept     map[question][]answer
	complete bool
}

// question is what requests with the same answer have in common. A resource has one answer in most cases, and two when it is replaced.
type question struct {
	method Method
	urn    urn.URN
}

// answer is an answer of a provider with all that it depends on.
type answer struct {
	provider          urn.URN
	identity          string // of the plugin
	configuration     property.Map
	request, response any
}

// NewAnswers returns answers that are empty. identify returns a text that is different whenever another plugin would serve a spec; ok is false if that
// cannot be known, and the provider is always called then. nil stands for plugins that stay the same.
func NewAnswers(identify func(Spec) (identity string, ok bool)) *Answers {
	return &Answers{identify: identify, kept: map[question][]answer{}}
}

// of returns the identity of the plugin that serves a spec; ok is false if its answers may not be used again.
func (a *Answers) of(spec Spec) (identity string, ok bool) {
	if a == nil {
		return "", false
	}
	if _, does := LooksOutside(spec.Package); does {
		return "", false
	}
	if a.identify == nil {
		return spec.Key(), true
	}
	identity, ok = a.identify(spec)
	return spec.Key() + identity, ok
}

// LooksOutside reports whether the answers of a package depend on more than the arguments, and why. They are not used again.
func LooksOutside(pkg string) (reason string, does bool) {
	switch pkg {
	case "kubernetes":
		return "Diff asks the cluster what would change (server-side dry run)", true
	case "docker", "docker-build":
		return "Check and Diff read the build context and ask the registry", true
	case "time", "tls":
		return "Diff compares dates with the clock", true
	case "pulumi":
		return "its resources read other stacks", true
	case DynamicNodejs, DynamicPython:
		return "the provider is code of the program, which may look at anything", true
	}
	return "", false
}

// Complete says that the preview has found no change, so that the update will probably ask nothing else: its providers are started when they are needed.
func (a *Answers) Complete() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.complete = true
}

// suffice reports whether the provider of a spec will probably not be called. Only then it is identified, which reads folders.
func (a *Answers) suffice(spec Spec) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	complete := a.complete
	a.mu.Unlock()
	if !complete {
		return false
	}
	_, isKnown := a.of(spec)
	return isKnown
}

// find returns the answer to a request that is the same for the provider.
func (a *Answers) find(by asker, of question, same func(request any) bool) (response any, found bool) {
	a.mu.Lock()
	kept := a.kept[of]
	a.mu.Unlock()
	for _, k := range kept {
		if k.provider == by.provider && k.identity == by.identity && property.IdenticalMaps(k.configuration, by.configuration) && same(k.request) {
			return k.response, true
		}
	}
	return nil, false
}

// keep never changes a list that another goroutine may be reading.
func (a *Answers) keep(of question, k answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[of] = append(slices.Clip(a.kept[of]), k)
}

// reusable is what is known about the answers of a method that may be used again.
type reusable[Q, R any] struct {
	method Method
	typ    func(Q) urn.Type
	// same reports whether a provider gets the same request twice. Whether unknown values are allowed makes no difference where there are none.
	same func(a, b Q) bool
	// lasts reports whether an answer may be used again in the same run.
	lasts func(Q, R) bool
	// encode appends the request to b; ok is false if it has no encoding.
	encode func(b []byte, q Q) (_ []byte, ok bool)
	// seed returns the random seed in a request, nil if it has none.
	seed func(Q) []byte
	// unchanged returns the answers to a request that do not say that anything has changed. isOneOf reports whether a response is such an answer.
	unchanged func(Q) []R
	isOneOf   func(R, answer R) bool
}

// checks returns what is known about answers of Check, and about those of CheckConfig.
func checks() reusable[CheckRequest, CheckResponse] {
	return reusable[CheckRequest, CheckResponse]{
		method: MethodCheck,
		typ:    func(q CheckRequest) urn.Type { return q.Type },
		same: func(a, b CheckRequest) bool {
			return a.URN == b.URN && a.Name == b.Name && a.Type == b.Type && slices.Equal(a.RandomSeed, b.RandomSeed) && reflect.DeepEqual(a.Autonaming, b.Autonaming) &&
				property.IdenticalMaps(a.Olds, b.Olds) && property.IdenticalMaps(a.News, b.News) && property.IdenticalMaps(a.OldOutputs, b.OldOutputs)
		},
		lasts: func(q CheckRequest, r CheckResponse) bool {
			return len(r.Failures) == 0 && !r.Inputs.HasUnknowns() && !q.News.HasUnknowns()
		},
		encode: func(b []byte, q CheckRequest) ([]byte, bool) {
			var named Autonaming
			if q.Autonaming != nil {
				named = *q.Autonaming
			}
			b = appendTexts(b, string(q.URN), q.Name, string(q.Type), string(q.RandomSeed), named.ProposedName)
			b = append(b, byte(named.Mode), flag(q.Autonaming != nil), flag(named.WarnIfUnsupported))
			return appendMaps(b, q.Olds, q.News, q.OldOutputs)
		},
		seed:      func(q CheckRequest) []byte { return q.RandomSeed },
		unchanged: func(q CheckRequest) []CheckResponse { return []CheckResponse{{Inputs: q.Olds}} },
		isOneOf: func(r, answer CheckResponse) bool {
			return len(r.Failures) == 0 && !r.AutonamingUnsupported && property.IdenticalMaps(r.Inputs, answer.Inputs)
		},
	}
}

// diffs returns what is known about answers of Diff, and about those of DiffConfig.
func diffs() reusable[DiffRequest, DiffResponse] {
	return reusable[DiffRequest, DiffResponse]{
		method: MethodDiff,
		typ:    func(q DiffRequest) urn.Type { return q.Type },
		same: func(a, b DiffRequest) bool {
			return a.URN == b.URN && a.Name == b.Name && a.Type == b.Type && a.ID == b.ID && slices.Equal(a.IgnoreChanges, b.IgnoreChanges) &&
				property.IdenticalMaps(a.OldInputs, b.OldInputs) && property.IdenticalMaps(a.OldOutputs, b.OldOutputs) && property.IdenticalMaps(a.NewInputs, b.NewInputs)
		},
		lasts: func(q DiffRequest, _ DiffResponse) bool { return !q.NewInputs.HasUnknowns() },
		encode: func(b []byte, q DiffRequest) ([]byte, bool) {
			b = appendTexts(b, string(q.URN), q.Name, string(q.Type), q.ID)
			b = appendTexts(b, q.IgnoreChanges...)
			return appendMaps(append(b, 0), q.OldInputs, q.OldOutputs, q.NewInputs)
		},
		seed: func(DiffRequest) []byte { return nil },
		unchanged: func(DiffRequest) []DiffResponse { // the engine compares itself after the second one
			return []DiffResponse{{Changes: DiffNone}, {Changes: DiffUnknown}}
		},
		isOneOf: func(r, answer DiffResponse) bool {
			return r.Changes == answer.Changes && len(r.ReplaceKeys) == 0 && len(r.ChangedKeys) == 0 && len(r.DetailedDiff) == 0
		},
	}
}

// asker is a provider as answers know it. The zero value always asks.
type asker struct {
	answers       *Answers // nil if there are none
	identity      string
	provider      urn.URN
	configuration property.Map
	recorder      recorder
}

// reuse returns the answer of an earlier call with the same request, or makes the call and keeps its answer.
func reuse[Q, R any](by asker, u urn.URN, request Q, of reusable[Q, R], call func() (R, error)) (R, error) {
	at := question{of.method, u}
	if by.answers != nil {
		if a, found := by.answers.find(by, at, func(other any) bool { return of.same(other.(Q), request) }); found {
			return a.(R), nil
		}
	}
	response, err := recorded(by.recorder, at, request, of, call)
	if by.answers != nil && err == nil && of.lasts(request, response) {
		by.answers.keep(at, answer{by.provider, by.identity, by.configuration, request, response})
	}
	return response, err
}
