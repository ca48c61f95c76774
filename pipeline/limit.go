package pipeline

import (
	"context"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Limit returns s with at most max(key) inputs of the same key being worked on at once; those that wait are served in
// turn. max is asked when a key is first used; 0 or less means no limit for that key.
//
// An input that waits for its key occupies one of the stage's workers, so give the stage more workers than the limits add
// up to, or Unbounded: otherwise one slow key keeps the others out. A key stays taken while its input waits in Emit. If
// what comes after the stage needs the same limit in order to make room, do not use Limit: take [await.Slots] around the call
// itself.
//
// A key is free as soon as Run returns, so after a failure one more input of that key may begin before the run ends.
func Limit[In, Out any](s Stage[In, Out], key func(In) string, max func(key string) int) Stage[In, Out] {
	mustHave(s.Run != nil, s.Name, "a Run function")
	mustHave(key != nil && max != nil, s.Name, "a key and a maximum for Limit")
	inner, slots := s.Run, await.NewKeyedSlots(max)
	s.Run = func(ctx context.Context, in In, emit Emit[Out]) error {
		k := key(in)
		if err := slots.Acquire(ctx, k); err != nil {
			return err
		}
		defer slots.Release(k)
		return inner(ctx, in, emit)
	}
	return s
}
