package providers

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/urn"
)

// Method names a method of a [Provider] that belongs to one resource or function.
type Method string

// The methods that [Limits] may limit. Call and Construct are not among them: they call back into the engine, and a call
// that waits for a slot while it holds one would stop the run.
const (
	MethodCheck  Method = "check"
	MethodDiff   Method = "diff"
	MethodCreate Method = "create"
	MethodRead   Method = "read"
	MethodUpdate Method = "update"
	MethodDelete Method = "delete"
	MethodInvoke Method = "invoke"
)

// LimitKey is what calls share a limit: the provider instance, the method, and the type of the resource. Of an invoke the
// type is the function's token.
type LimitKey struct {
	Provider urn.ProviderRef
	Method   Method
	Type     urn.Type
}

// Limits returns how many calls with the same key may be under way at once; 0 or less means any number. It must return the
// same limit for the same key, and must not call the provider. A nil Limits limits nothing, which is the default: the
// engine bounds changing calls itself, and waiting in Check, Diff and Read is cheap.
//
// The calls of one key get their slots in the order of their arrival.
type Limits func(LimitKey) int

// slotsByKey are the slots of one instance. The zero value limits nothing.
type slotsByKey struct{ slots *await.KeyedSlots[LimitKey] }

func newSlotsByKey(limits Limits) slotsByKey {
	if limits == nil {
		return slotsByKey{}
	}
	return slotsByKey{await.NewKeyedSlots(limits)}
}

// acquire waits for a slot. release gives it back and may be called once; it is never nil unless err is not.
func (l slotsByKey) acquire(ctx context.Context, key LimitKey) (release func(), err error) {
	if l.slots == nil {
		return func() {}, nil
	}
	if err := l.slots.Acquire(ctx, key); err != nil {
		return nil, err
	}
	return func() { l.slots.Release(key) }, nil
}
