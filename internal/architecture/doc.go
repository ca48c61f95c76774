// Package architecture holds tests that keep the shape of the project: which package may import which, what no package but
// pipeline may do, and how large a type, the root package and a set of files that need each other may become. There is
// nothing in it to import.
//
// What is measured, and what comes near its limit, is printed by
//
//	go run ./internal/architecture/cmd/shape
package architecture
