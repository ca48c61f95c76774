// Package pipeline joins typed stages by bounded links and runs them as one.
//
// It is for work that many items go through in the same steps: some steps run in parallel, some are single writers that
// decide, and all of them must stop together, lose nothing and report in a fixed order. A flow is built from values:
// [From] starts it, [Via] and [ViaActor] add steps, [Run] drives it into a sink. Joining two steps whose types do not fit
// does not compile. A step never sees a channel.
//
// What lets other packages wait without making channels is in package await.
//
// It is not a scheduler for work ordered by edges, and it knows nothing of what the items mean.
//
// Its one invariant: every item handed to the runtime has exactly one outcome. It is worked on by the next step, or it
// is rejected (see [Rejecter]); whatever happens (an error, a panic, a cancellation), no item is forgotten, and [Run]
// does not return before every goroutine it started has ended.
package pipeline
