// Package store keeps named contents: the little that a backend needs of a directory, an object store or a database. What
// the names and contents mean is package backend's business.
//
// Directories are here. Object stores and databases have packages of their own, so that programs that do not use them do not
// link what they need.
//
// Invariant: a content is replaced as a whole. A reader gets the old or the new one, and what a Write or a
// Remove that has returned did survives the loss of power.
package store
