// Package peer checks the user of the process at the other end of a TCP connection on this machine. Servers and clients of
// gRPC use it as their transport credentials: they close a connection with a stranger, a user other than that of this
// process and root.
//
// It encrypts nothing, and is independent of the purpose of connections. Only Linux shows the owner of a connection; on
// other systems nobody is a stranger.
//
// Invariant: where Linux shows its sockets, nothing that a stranger has sent is read, and nothing is sent to a stranger.
package peer
