// Package report writes one report on all stacks of a run: a page, a comment for a pull request, or JSON.
//
// It does not follow the run.
//
// Invariant: texts of others are escaped, and a report has no secret, because what a run knows has none.
package report
