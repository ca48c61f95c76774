// Package architecture holds tests that keep the structure of the project: which package may import which, and what no package but pipeline
// may do. There is nothing in it to import.
package architecture
