// Package flags defines the flags of commands, in groups by subject.
//
// A group registers its flags with Add, and has a method that converts them to the form that the engine or the display
// needs. The package does not decide how flags change the course of an operation.
package flags
