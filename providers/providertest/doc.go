// Package providertest has providers for tests of everything that uses providers: stages of your own, the engine, programs
// that embed it. They live in the process, need no plugin and no network, and behave the same on every run.
//
// [Cloud] is a simulated cloud with a truth table of what exists in it. Its resources have whatever type and properties a
// test gives them, and the properties' names say how the provider treats them:
//
//	immutable…   a change needs a replacement
//	dbr…         a change needs a replacement, and the old resource must be deleted first
//	invalid…     Check refuses the property
//	unhealthy    while true, creates and updates succeed but report that the resource did not become healthy
//	anything     a change is an update in place
//
// The outputs of a resource are its inputs and "arn", which is unknown in the preview of a create. IDs count the creates of
// a URN ("web-5c1a4ff1-1", "-2", ...), so that they depend neither on timing nor on other resources. A call can be made to
// take time ([Options.Latency]): each call's latency is drawn from a seed, its method, its URN and its number, never from
// the order of arrival, and inside a testing/synctest bubble it costs nothing. A call can be made to fail ([Failure]). All
// calls are recorded ([Cloud.Calls], [Cloud.Count], [Cloud.Peak]).
//
//	cloud := providertest.NewCloud(providertest.Options{Seed: 1, MaxLatency: time.Second})
//	result, err := sluice.Update(ctx, sluice.Options{Providers: cloud.Host(), Program: program})
//	require.Len(t, cloud.Records(), 3)
//
// [Fake] is a provider made of functions, for the cases that Cloud does not have. [Check] is for people who write providers: it tries whether theirs
// keeps what engines rely on.
//
// Invariant: what a provider of this package answers depends on its options and on the calls for the same URN that came
// before, never on timing.
package providertest
