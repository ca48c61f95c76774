// Package providers holds what manages resources: the [Provider] interface that a plugin process, a built-in and a Go
// value in a test all satisfy, and the [Registry] that owns the provider instances of one run and is itself the provider
// of provider resources ("pulumi:providers:<package>").
//
// It does not decide anything about resources: which calls are made, in what order and what their answers mean is the
// business of package stages. It does not know processes or gRPC either; those are in providers/plugin, and the package
// "pulumi" is in providers/builtin. For tests of stages there is a provider with a simulated cloud in
// providers/providertest.
//
// Invariant: a resource call reaches a provider only after its Configure has returned without an error, and what
// [Registry] starts it also closes.
package providers
