// Package packages reads the schemas of packages, and adds packages to programs.
//
// It generates no code: language plugins do.
//
// Invariant: a project file is changed only after the package has returned its schema, and a folder of an SDK is replaced as a
// whole.
package packages
