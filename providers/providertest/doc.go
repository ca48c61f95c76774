// Package providertest has providers for tests of code that uses providers: your own stages, the engine, programs that
// embed it. They run in the process, need no plugin and no network, and behave the same on every run.
//
// [Cloud] is a simulated cloud with a table of the existing resources. Its resources have whatever type and properties a
// test gives them, and the properties' names define how the provider treats them:
//
//	immutable…   a change needs a replacement
//	dbr…         a change needs a replacement, and the old resource must be deleted first
//	invalid…     Check refuses the property
//	unhealthy    while true, creates and updates succeed but report that the resource did not become healthy
//	anything     a change is an update in place
//
// The outputs of a resource are its inputs and "arn", which is unknown in the preview of a create. IDs count the creates of
// a URN ("web-5c1a4ff1-1", "-2", ...), so that they depend neither on timing nor on other resources. With [Options.Latency]
// calls take time: each call's latency is drawn from a seed, its method, its URN and its number, never from the order of
// arrival, and inside a testing/synctest bubble it costs nothing. With [Failure] calls fail. All calls are recorded
// ([Cloud.Calls], [Cloud.Count], [Cloud.Peak]).
//
//	cloud := providertest.NewCloud(providertest.Options{Seed: 1, MaxLatency: time.Second})
//	result, err := sluice.Update(ctx, sluice.Options{Providers: cloud.Host(), Program: program})
//	require.Len(t, cloud.Records(), 3)
//
// [Fake] is a provider made of functions, for the cases that Cloud does not have. [Check] is for authors of providers: it tests whether a provider
// fulfils its contract with engines.
//
// Invariant: the answers of a provider of this package depend on its options and on the earlier calls for the same URN,
// never on timing.
package providertest
