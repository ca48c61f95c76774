// Package compare compares two sets of inputs or outputs beyond what the provider compares: ignored
// properties, replaceOnChanges, and which differences are shown.
//
// It is a package of functions: it knows neither runs nor providers.
package compare
