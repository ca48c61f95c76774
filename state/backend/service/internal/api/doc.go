// Package api speaks the HTTP interface of Pulumi's service: one method for each call, with the fields that sluice uses.
//
// It keeps no states and uses no files: package service does.
//
// Invariant: a token goes to the origin that the client was made for and to no other, and is in no error and no text. A call
// is repeated only if a repetition has no further effect, or if the call certainly has not reached the service.
package api
