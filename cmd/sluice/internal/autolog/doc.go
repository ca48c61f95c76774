// Package autolog keeps a log of each operation that may change something: its steps and messages, without the properties of resources.
//
// It prints nothing, and an operation does not depend on it.
//
// Invariant: the logs of a home folder are bounded in number, age and size, and so is each of them.
package autolog
