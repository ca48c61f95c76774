// Package flags has the flags of commands, in groups by what they are about.
//
// A group registers its flags with Add, and has one method that turns them into what the engine or the display wants. What
// flags mean for the course of an operation is not decided here.
package flags
