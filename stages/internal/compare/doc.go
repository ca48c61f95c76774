// Package compare compares two sets of inputs or outputs beyond what the provider compares: ignored
// properties, replaceOnChanges, and which differences are shown.
//
// It has only functions, which depend on neither runs nor providers.
package compare
