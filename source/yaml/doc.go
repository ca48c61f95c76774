// Package yaml runs Pulumi YAML programs in this process, without a language plugin ([protocol.md 11]).
//
// A program goes through the packages in internal, each of which uses only those before it: its text is parsed (syntax, ast), its settings
// are read (config), its names are bound (bind), its types are checked against the schemas of the packages (packages, schema, check). Then
// everything is evaluated in parallel (eval, functions, values) and the resources are declared (declare), each as soon as the values that
// it refers to are there. This package determines the order.
//
// It makes no decision about resources: it registers them with the monitor like every other program.
//
// Invariant: a program with an error that can be found without evaluating it registers nothing but the stack, and errors are reported in
// the order of the file, whatever came first in time.
//
// [protocol.md 11]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#11-yaml-programs
package yaml
