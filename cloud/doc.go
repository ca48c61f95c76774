// Package cloud links the drivers of what sluice can keep state and keys in besides the file system: object stores, PostgreSQL
// and the key services of clouds. They are most of what a program weighs that imports this package; whoever needs one of
// them only finds its parts in packages state/store/objects and state/store/postgres.
//
// The drivers find their credentials where those of their cloud usually are: in the environment, in files, in the machine.
package cloud
