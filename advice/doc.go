// Package advice says as data what a user can do about an error or a diagnostic.
//
// An error of a library says what is wrong and where. With which command or flag it is put right is up to the program that
// has the library in it: the command line has words for each [Action], another program has a button, or does it by itself.
//
// The package has no words, and imports only package urn.
//
// Invariant: what [Of] returns depends on the error alone, and has nothing twice.
package advice
