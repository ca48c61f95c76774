// Package sweep is what runs do to recorded resources without a registration: the end phase of an update, destroys,
// refreshes, recovery and imports without a program.
//
// What it deletes, it hands to execute's ready set as tasks; what it reads, it reads in parallel and writes into the book
// in the order of the base.
package sweep
