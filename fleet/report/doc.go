// Package report writes one report on all stacks of a run: a web page, a comment for a pull request, or JSON.
//
// It does not follow the run.
//
// Invariant: foreign texts are escaped. A report contains no secrets, because the data of a run contains none.
package report
