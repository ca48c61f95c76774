// Package places remembers where a program gives the properties of the resources that it has registered, and which settings they are
// made of, for those who explain afterwards why something changes.
//
// It keeps no copies: a place is looked up in the parsed program when somebody asks for it.
//
// Invariant: a place is where the program gives the value, or the nearest thing around it; never the place of another value.
package places
