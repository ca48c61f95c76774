// Package providers defines how the engine manages resources. Plugin processes, built-in providers and Go values in tests
// implement the [Provider] interface. The [Registry] owns the provider instances of one run, and has the provider
// of provider resources ("pulumi:providers:<package>").
//
// The package makes no decisions about resources: package stages decides which calls are made, in which order, and what
// their answers mean. Processes and gRPC are in providers/plugin. The package "pulumi" is in providers/builtin. For
// tests, providers/providertest has a provider with a simulated cloud.
//
// Invariant: a call for a resource reaches a provider only after its Configure has returned without an error. [Registry]
// closes every provider that it starts.
package providers
