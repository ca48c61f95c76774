// Package api speaks the HTTP interface of Pulumi's service: one method for each call, with the fields that sluice uses.
//
// It keeps no state of stacks and knows nothing of files: package service does.
//
// Invariant: a token goes to the origin that the client was made for and to no other, and is in no error and no text. A call
// is repeated only if it has the same effect twice, or certainly has not reached the service.
package api
