// Package monitor is the gRPC ResourceMonitor server: it decodes what programs and component providers send, hands it
// to a stages.Monitor and encodes the answers (protocol.md 4). Transforms and hooks, which run in the program, become
// Go functions here.
//
// It makes no decision about resources: what a registration leads to, inheritance from parents, the choice of a
// provider and the hashing of assets are the Monitor's business.
//
// Invariant: the server keeps nothing about a request after its answer, and of a request that waits it keeps only what
// shapes the answer.
package monitor
