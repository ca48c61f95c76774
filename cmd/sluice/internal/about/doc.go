// Package about finds out what there is in a directory and on a machine, for reports of what does not work.
//
// Invariant: what cannot be found out is an entry in the report and never an error, and no secret is in it.
package about
