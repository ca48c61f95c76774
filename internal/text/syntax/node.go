package syntax

import "unicode/utf8"

// Range is a place in a file. Lines and columns count from 1, columns in characters. End is the column after the last
// character, on the same line. The zero Range is no place.
type Range struct{ Line, Column, End int }

// IsZero reports whether r is no place.
func (r Range) IsZero() bool { return r.Line == 0 }

// Kind is the kind of a node.
type Kind int

// The kinds of nodes.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Object
)

// String returns the name of the kind for messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// Node is one value of a document.
type Node struct {
	Kind    Kind
	Range   Range
	Bool    bool
	Number  float64
	Text    string // of strings; the text in the file for numbers and booleans
	Items   []*Node
	Entries []Entry
}

// Entry is one entry of an object, in the order of the file.
type Entry struct{ Key, Value *Node }

// width returns how many characters a text has.
func width(s string) int { return utf8.RuneCountInString(s) }
