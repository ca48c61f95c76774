// Package why answers why an operation decided what it decided about a resource: the chain of reasons from the decision
// back to the edit, the option or the event outside that it comes from, across resources.
//
// A [Log] is what one operation decided, made of the steps of a run once that is over. Nothing is decided here, and
// nothing is guessed: the reasons are those that travelled with the decisions ([stages.Reason]); what this package adds
// is the values that changed and whose they are, read from the states before and after. A Log can be written and read
// again, and gives the same answers then.
//
// One thing always holds: there is no secret in a Log. Values are masked when they are copied into it.
package why
