// Package about describes a directory and the machine, for bug reports.
//
// Invariant: failures are entries in the report and never errors, and the report contains no secrets.
package about
