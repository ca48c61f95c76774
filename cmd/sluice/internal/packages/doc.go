// Package packages asks for the schemas of packages that people name, and gives programs what they need to use them.
//
// It generates no code: language plugins do.
//
// Invariant: a project file is changed only when the package has told what it is, and a folder of an SDK is replaced as a whole.
package packages
