// Package manual writes the help texts of a program as man pages or Markdown, one file for each command.
//
// It says nothing that the help texts do not say.
//
// Invariant: what a help text shows as it is, in lines with an indentation or between backquotes, a page shows as it is.
package manual
