// Package access is how the stages of a run reach providers: it finds the provider of a resource, starts it where need
// be, and asks it for comparisons.
//
// It decides nothing about resources. A provider that cannot be started ends the registration that needs it.
package access
