// Package source runs the programs that declare resources. It has the [Program] interface, a gRPC server through which programs in other
// processes call the engine (monitor), and a folder for each way to run a program (language plugins, Node.js, Go and others). Folder policy
// runs policy packs.
//
// It is not the engine: it decodes the requests of programs, passes them to a stages.Monitor and encodes the replies.
//
// Invariant: every server listens on the loopback interface only.
package source
