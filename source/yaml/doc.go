// Package yaml runs Pulumi YAML programs in this process, without a language plugin (protocol.md section 11).
//
// A program is parsed (internal/ast), its names are bound to what they mean, its types are checked against the schemas of
// the packages (internal/schema), and then everything is evaluated at once, each resource as soon as what it refers to is
// known.
//
// It makes no decision about resources: it registers them with the monitor like every other program.
//
// Invariant: a program with an error that can be seen without evaluating it registers nothing but the stack, and what is
// wrong is reported in the order of the file, whatever came first in time.
package yaml
