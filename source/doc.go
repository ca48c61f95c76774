// Package source holds what declares resources: the [Program] interface, a gRPC server that lets programs in other
// processes talk to the engine (monitor), and a folder for each way to run a program (language plugins, Node.js, Go). The
// user's other programs, policy packs, are run by folder policy.
//
// It is not the engine: it decodes what programs send, hands it to a stages.Monitor and encodes the answers.
//
// Invariant: every server listens on the loopback interface only.
package source
