// Package await lets other packages wait without making channels: [Promise] and [Event] are for what happens once,
// [Mailbox] for values in order, [Slots] for a limited number at a time, [RWLock] for what may not happen at the same time as
// something else, [Flight] for one call with many waiting callers, and [For] for some time.
//
// It is not for joining steps that many items pass; that is package pipeline.
//
// Its one invariant: a wait ends with the event or value that it is for, or with the cause of its own context (a wait for an
// [RWLock] has none), and a wait that gives up takes nothing from the others.
package await
