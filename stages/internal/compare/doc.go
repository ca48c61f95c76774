// Package compare is what diff says about two sets of inputs or outputs beyond what the provider says: ignored
// properties, replaceOnChanges, and which differences are shown.
//
// It is a package of functions: it knows neither runs nor providers.
package compare
