// Package sluice is a deployment engine for infrastructure as code. It takes what a program declares, compares it with what
// is recorded, asks resource providers what has to change, and changes it. It speaks Pulumi's protocols and files. The
// command line in cmd/sluice is a client of this package.
//
// [Preview] says what [Update] would do; [Destroy] deletes everything; [Refresh] records how the objects are now;
// [Import] takes over what exists. All take [Options]:
//
//	result, err := sluice.Update(ctx, sluice.Options{
//		Project: "shop", Stack: "dev",
//		State:     &sluice.MemoryState{},         // or a stack of a backend, see Locked
//		Providers: cloud.Host(),                  // or plugins, see NewPluginHost
//		Program:   source.Func(declareResources), // or source.Requests, NewYAMLText, Options.WithProgramIn
//		Observe:   func(e stages.Event) { ... },
//	})
//
// A stack of a backend is recorded only by who holds its lock. [Locked] selects or makes the stack, holds the lock, and writes the
// history:
//
//	b, err := sluice.OpenBackend(ctx, sluice.BackendOptions{URL: "file://~", Project: "shop", LookupEnv: os.LookupEnv})
//	...
//	err = sluice.Locked(ctx, b, "dev", sluice.LockedOptions{Create: true}, func(ctx context.Context, s backend.Stack) error {
//		options.State = s
//		_, err := sluice.Update(ctx, options)
//		return err
//	})
//
// Each registration goes through typed stages, which run at the same time:
//
//	register → lookup → import → check → analyze → diff → build → execute
//
// lookup owns names and build owns decisions: each has one writer and does no I/O. The others call programs and providers,
// many at once. [Standard] gives the assembled [Engine], which has a slot after each stage for stages of a caller's own, and two for deletes.
// docs/composing.md has the contract of slots, and examples.
//
// What these take and return is named where it lives: events, steps, reasons and requests of programs in package stages,
// explanations in stages/why, recorded resources and plans in state, stacks and locks in state/backend and state/lock,
// programs in source, values in property, names in urn.
//
// What an operation decides and records does not depend on how long anything takes or on how many workers there are.
// docs/architecture.md says how, and what the exceptions are.
package sluice

// Version is the version of this library and of the command line.
const Version = "0.1.0"

// manifestVersion is the name of the writer in states (state.md 1.5).
const manifestVersion = "sluice/" + Version
