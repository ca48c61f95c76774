// Package store keeps named contents: the small interface that a backend needs of a directory, an object store or a
// database. Package backend defines the names and contents.
//
// Directories are here. Object stores and databases have packages of their own, so that programs link only the drivers that
// they use.
//
// Invariant: a content is replaced as a whole. A reader gets the old or the new one, and the effect of a Write or a Remove
// that has returned survives the loss of power.
package store
