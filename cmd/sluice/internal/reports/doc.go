// Package reports writes down what one preview or operation did, for people who were not there: as a page, as a comment on a pull request, or
// as JSON.
//
// A [Builder] makes a [Document] of the events that displays consume, of the decisions that `sluice why` explains, or of both. The other
// forms render the Document and nothing else. This package watches no operation while it runs, and measures nothing itself.
//
// Invariant: there is no secret in a Document, also if secrets are shown on the screen, and its size is bounded by the number of resources
// and [Limits], whatever the size of their properties.
package reports
