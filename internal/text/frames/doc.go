// Package frames finds the line of a program that gives a property, from the stack frames that an SDK sends with a registration.
//
// It knows brackets, texts, numbers and names, and no language: it reads the statement at each frame, from the one that declares the resource
// outwards, and looks for the name of the property there. It is no parser, and says nothing about a value that a statement computes elsewhere.
//
// Invariant: a line that it returns is in a statement of one of the frames, and contains the name of the property or the new value.
package frames
