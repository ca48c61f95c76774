// Package cloud links the drivers of the services that can keep state and keys besides the file system: object stores,
// PostgreSQL and the key services of clouds. The drivers make up most of the size of a program that imports this
// package. A program that needs only one of them can use packages state/store/objects and state/store/postgres.
//
// The drivers find their credentials in the usual places of their cloud: in the environment, in files, in the machine.
package cloud
