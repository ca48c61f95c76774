// Package architecture has tests for the structure of the project: which package may import which, and what only package pipeline may do.
// It exports nothing.
package architecture
