// Package advise has the texts of the command line for advice about errors and diagnostics: which command to use, which
// flag. The library returns advice as data (package advice).
//
// Commands show errors and diagnostics of the library only through [Text], [With] or [Event].
//
// Invariant: every action of package advice has a text here, and nowhere else in the command line.
package advise
