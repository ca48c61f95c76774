// Package monitor is the gRPC ResourceMonitor server: it decodes the requests of programs and component providers, passes them to a
// stages.Monitor and encodes the answers ([protocol.md 4]). Transforms and hooks, which run in the program, become Go functions here.
//
// It makes no decision about resources: the outcome of a registration, inheritance from parents, the choice of a provider and the hashing
// of assets belong to the Monitor.
//
// Invariant: the server keeps nothing of a request after its answer, and of a waiting request only the form of its answer.
//
// [protocol.md 4]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#4-resourcemonitor
package monitor
