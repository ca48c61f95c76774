// Package pipeline joins typed stages by bounded links and runs them as one.
//
// Use it if many items pass through the same steps. Some steps run in parallel; others are single writers that make
// decisions. All steps stop together, lose no item, and report errors in a fixed order. A flow is built from values:
// [From] starts it, [Via] and [ViaActor] add steps, and [Run] drives it into a sink. Two steps whose types do not match
// cannot be joined: the program does not compile. A step never handles a channel.
//
// Package await lets other packages wait without making channels.
//
// The package is not a scheduler for work ordered by edges. It does not interpret items.
//
// Invariant: every item handed to the runtime has exactly one outcome. Either the next step works on it, or it is
// rejected (see [Rejecter]). No item is lost, even after an error, a panic or a cancellation. [Run]
// does not return before every goroutine that it started has ended.
package pipeline
