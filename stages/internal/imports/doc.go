// Package imports takes existing objects under management without a program: the import command.
//
// Invariant: an impossible import changes nothing, because everything is planned and checked before the first object is read.
package imports
