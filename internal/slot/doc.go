// Package slot enforces the rules for stages in the slots of an engine: each item that goes in comes out once, with the same
// identity, or there is an error for it.
//
// It depends neither on the engine nor on the meaning of items beyond their identities.
//
// Invariant: whatever a stage does, every item that it gets is emitted or rejected, so that nothing waits for ever.
package slot
