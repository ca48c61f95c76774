// Package places locates the properties of registered resources in the program, and the settings in their values, so that the reason of a
// change can be explained afterwards.
//
// It keeps no copies: it looks up a place in the parsed program on demand.
//
// Invariant: a place is that of the value in the program, or of the nearest thing around it; never that of another value.
package places
