// Package protocoltest compares what sluice answers to programs, and sends to providers, with what Pulumi 3.274.1 did: scenarios of the parts of
// the protocol that the compatibility kit cannot express (decision 0269).
//
// A scenario in testdata/scenarios is a list of steps. The program of a step is a list of requests to the monitor, as JSON; testdata/golden has
// the answers, the calls of the provider, and the state after each step. testdata/accept.yaml has the differences that are meant, with
// reasons.
//
//	go test ./testing/protocoltest                                  compare
//	PEER=/path/to/pulumi go test ./testing/protocoltest -record     record; -run TestProtocol/NAME records one
//
// Invariant: a golden has nothing but what a scenario says or what the peer did with it; texts of errors are not compared.
package protocoltest
