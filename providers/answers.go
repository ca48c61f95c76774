package providers

import (
	"context"
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
	mu   sync.Mutex // guards kept
	kept map[question][]answer
}

// question is what requests with the same answer have in common. A resource has one answer in most cases, and two when it is replaced.
type question struct {
	method Method
	urn    urn.URN
}

// answer is an answer of a provider with all that it depends on.
type answer struct {
	provider          urn.URN
	spec              Spec
	configuration     property.Map
	request, response any
}

// NewAnswers returns answers that are empty.
func NewAnswers() *Answers { return &Answers{kept: map[question][]answer{}} }

// LooksOutside reports whether the answers of a package depend on more than the arguments, and why. They are not used again.
func LooksOutside(pkg string) (reason string, does bool) {
	switch pkg {
	case "kubernetes":
		return "Diff asks the cluster what would change (server-side dry run)", true
	case "docker", "docker-build":
		return "Check and Diff read the build context and ask the registry", true
	case DynamicNodejs, DynamicPython:
		return "the provider is code of the program, which may look at anything", true
	}
	return "", false
}

// knownAnswer returns the answer of an earlier call of i with the same request. If there is none, it makes the call and keeps its answer if keeps
// says so.
func knownAnswer[Q, R any](
	ctx context.Context, i *instance, of question, request Q, same func(a, b Q) bool, keeps func(Q, R) bool, call func() (R, error),
) (R, error) {
	if i.answers == nil {
		return call()
	}
	if err := i.ready(ctx); err != nil { // its configuration is known from now on
		var none R
		return none, err
	}
	defer i.end()
	if i.unconfigured != nil {
		return call()
	}
	if a, found := i.answers.find(i, of, func(other any) bool { return same(other.(Q), request) }); found {
		return a.(R), nil
	}
	response, err := call()
	if err == nil && keeps(request, response) {
		i.answers.keep(of, answer{i.ref.URN, i.spec, i.inputs, request, response})
	}
	return response, err
}

func (a *Answers) find(i *instance, of question, same func(request any) bool) (response any, found bool) {
	a.mu.Lock()
	kept := a.kept[of]
	a.mu.Unlock()
	for _, k := range kept {
		if k.provider == i.ref.URN && reflect.DeepEqual(k.spec, i.spec) && property.IdenticalMaps(k.configuration, i.inputs) && same(k.request) {
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

// sameCheck reports whether a provider gets the same request twice. Whether unknown values are allowed makes no difference where there are none.
func sameCheck(a, b CheckRequest) bool {
	return a.URN == b.URN && a.Name == b.Name && a.Type == b.Type && slices.Equal(a.RandomSeed, b.RandomSeed) && reflect.DeepEqual(a.Autonaming, b.Autonaming) &&
		property.IdenticalMaps(a.Olds, b.Olds) && property.IdenticalMaps(a.News, b.News) && property.IdenticalMaps(a.OldOutputs, b.OldOutputs)
}

// isLastingCheck reports whether an answer may be used again.
func isLastingCheck(q CheckRequest, r CheckResponse) bool {
	return len(r.Failures) == 0 && !r.Inputs.HasUnknowns() && !q.News.HasUnknowns()
}

// sameDiff is sameCheck for a Diff.
func sameDiff(a, b DiffRequest) bool {
	return a.URN == b.URN && a.Name == b.Name && a.Type == b.Type && a.ID == b.ID && slices.Equal(a.IgnoreChanges, b.IgnoreChanges) &&
		property.IdenticalMaps(a.OldInputs, b.OldInputs) && property.IdenticalMaps(a.OldOutputs, b.OldOutputs) && property.IdenticalMaps(a.NewInputs, b.NewInputs)
}

// isLastingDiff is isLastingCheck for a Diff.
func isLastingDiff(q DiffRequest, _ DiffResponse) bool { return !q.NewInputs.HasUnknowns() }
