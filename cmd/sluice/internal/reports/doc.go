// Package reports writes reports about one preview or operation, for people who were not there: as a page, as a comment on a pull request, or
// as JSON.
//
// A [Builder] makes a [Document] from the events of displays, from the decisions of `sluice why`, or from both. The other forms render only
// the Document. This package observes no running operation itself, and measures nothing.
//
// Invariant: a Document contains no secret, even if secrets are shown on the screen, and its size is bounded by the number of resources and
// [Limits], whatever the size of the properties.
package reports
