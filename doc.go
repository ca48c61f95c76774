// Package sluice is a deployment engine for infrastructure as code. It compares the resources that a program declares with the
// recorded state, finds the necessary changes by calls of resource providers, and makes them. It uses Pulumi's protocols and file
// formats. The command line in cmd/sluice is a client of this package.
//
// [Preview] shows what [Update] would do. [Destroy] deletes all resources. [Refresh] records the present state of the
// objects. [Import] takes over existing objects. All take [Options]:
//
//	result, err := sluice.Update(ctx, sluice.Options{
//		Project: "shop", Stack: "dev",
//		State:     &sluice.MemoryState{},         // or a stack of a backend, see host.Locked
//		Providers: cloud.Host(),                  // or plugins, see host.NewPluginHost
//		Program:   source.Func(declareResources), // or source.Requests, host.NewYAMLText, host.WithProgramIn
//		Observe:   func(e stages.Event) { ... },
//	})
//
// This package is the engine, and nothing else. Package host is above it: it hosts programs in languages, plugins and backends. They bring the
// server through which other processes call the engine ([source.MonitorServer]).
//
// To write the state of a stack in a backend, a caller must hold its lock. host.Locked selects or creates the stack, holds the
// lock while a function runs, and writes the history:
//
//	b, err := host.OpenBackend(ctx, host.BackendOptions{URL: "file://~", Project: "shop", LookupEnv: os.LookupEnv})
//	...
//	err = host.Locked(ctx, b, "dev", host.LockedOptions{Create: true}, func(ctx context.Context, s backend.Stack) error {
//		options.State = s
//		_, err := sluice.Update(ctx, options)
//		return err
//	})
//
// Each registration goes through typed stages, which run at the same time:
//
//	register → lookup → import → check → analyze → diff → build → execute
//
// lookup owns names and build owns decisions: each has one writer and does no I/O. The other stages call programs and
// providers, many at once. [Standard] returns the assembled [Engine]. It has a slot after each stage, and two for deletes,
// where callers insert stages of their own. docs/composing.md has the contract of slots, and examples.
//
// Types are defined in the packages that they belong to: events, steps, reasons and requests of programs in package
// stages, explanations in stages/why, recorded resources and plans in state, stacks and locks in state/backend and
// state/lock, programs in source, values in property, names in urn.
//
// The decisions and records of an operation do not depend on timing or on the number of workers. docs/architecture.md
// explains how, and lists the exceptions.
package sluice

// Version is the version of this library and of the command line.
const Version = "0.1.0"

// ManifestVersion is the name of the writer in states ([state.md 1.5]).
//
// [state.md 1.5]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#15-manifest
const ManifestVersion = "sluice/" + Version
