// Package peer tells whose process is at the other end of a TCP connection on this machine. Servers and clients of gRPC use
// it as their transport credentials: a connection with a stranger, a user other than that of this process and root, is
// closed.
//
// It encrypts nothing, and knows nothing of what the connections are for. Only Linux says whose a connection is; on other
// systems nobody is a stranger.
//
// Invariant: where Linux shows its sockets, nothing that a stranger has sent is read, and nothing is sent to a stranger.
package peer
