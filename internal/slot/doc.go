// Package slot holds the stages that callers put into the slots of an engine to the rules: each item that goes in comes out once,
// as the item that it was, or there is an error for it.
//
// It knows neither the engine nor what the items mean beyond their identities.
//
// Invariant: whatever a stage does, every item that it gets is emitted or rejected, so that nobody waits for ever.
package slot
