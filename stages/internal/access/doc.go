// Package access connects the stages of a run with providers: it finds the provider of a resource, starts it where necessary, and
// calls it for comparisons.
//
// It decides nothing about resources. A provider that cannot be started ends the registration that needs it.
package access
