package providers

import (
	"encoding/json"
	"fmt"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// ahead holds the providers that were started before they were needed, by their specs.
type ahead map[string][]*await.Promise[*instance]

// StartAhead begins to start a provider for each spec, in the background. The next request for a provider with an equal spec
// gets that one, with its error if it could not be started. A provider that is not needed is closed with the registry, and its
// error is dropped.
func (r *Registry) StartAhead(specs ...Spec) {
	for _, spec := range specs {
		key := aheadKey(spec)
		r.mu.Lock()
		if !r.closed {
			started := await.NewPromise[*instance]()
			r.ahead[key] = append(r.ahead[key], started)
			r.workers.Go(func() { started.Decide(r.launch(r.run, spec)) })
		}
		r.mu.Unlock()
	}
}

// takeAhead returns a provider that was started ahead for a spec and has not been taken.
func (r *Registry) takeAhead(spec Spec) (*await.Promise[*instance], bool) {
	key := aheadKey(spec)
	r.mu.Lock()
	defer r.mu.Unlock()
	there := r.ahead[key]
	if len(there) == 0 {
		return nil, false
	}
	r.ahead[key] = there[1:]
	return there[0], true
}

// aheadKey is equal for two specs of the same provider.
func aheadKey(spec Spec) string {
	if len(spec.Checksums) == 0 {
		spec.Checksums = nil
	}
	if len(spec.Environment) == 0 {
		spec.Environment = nil
	}
	spec.Recorded, spec.Exact = false, false
	key, err := json.Marshal(spec)
	if err != nil {
		panic(fmt.Sprintf("a spec is not JSON: %v", err)) // it consists of texts
	}
	return string(key)
}
