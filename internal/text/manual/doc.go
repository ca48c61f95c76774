// Package manual writes the help texts of a program as man pages or Markdown, one file for each command.
//
// It adds nothing to the help texts.
//
// Invariant: text that a help text shows verbatim, in indented lines or between backquotes, is verbatim on a page.
package manual
