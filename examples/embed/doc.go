// Package embed shows the smallest use of sluice as a library, as an example that the tests run: a program that is a Go
// function, a provider that is a Go value, and a state in memory or in a folder. It exports nothing.
package embed
