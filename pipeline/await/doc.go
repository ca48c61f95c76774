// Package await holds what lets other packages wait for each other without making channels: [Promise] and [Event] for
// what happens once, [Mailbox] for values in order, [Slots] for a limited number at a time, [Flight] for work
// that many callers want and one does, and [For] for some time.
//
// It is not for joining steps that many items pass; that is package pipeline.
//
// Its one invariant: a wait ends with what was waited for or with the cause of its own context, and one that gives up
// takes nothing from the others.
package await
