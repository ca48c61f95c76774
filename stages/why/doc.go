// Package why explains the decisions of an operation about a resource: the chain of reasons from the decision back to its origin,
// an edit, an option or an outside event, across resources.
//
// A [Log] has the decisions of one operation, made of the steps of a run once that is over. Nothing is decided here, and nothing is
// guessed: the reasons are those of the decisions ([stages.Reason]). This package adds the changed values and their origins, from
// the states before and after. A Log can be written and read again, and then gives the same answers.
//
// Invariant: there is no secret in a Log. Values are masked when they are copied into it.
package why
