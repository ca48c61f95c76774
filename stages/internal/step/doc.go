// Package step executes the steps that build has decided and execute has handed out. Nothing else calls Create, Update and
// Delete.
//
// One goroutine executes one step, from the hooks before it to the record after it. Invariant: a step is recorded as pending before
// its provider is called, and as done before anything continues that waits for it.
package step
