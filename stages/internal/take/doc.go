// Package take takes the steps that build has decided and execute has handed out. Nothing else calls Create, Update and
// Delete.
//
// One goroutine takes one decision, from its hooks before the first step to the record after the last. Invariant: a step
// is recorded as pending before its provider is called, and as done before anyone who waits for it goes on.
package take
