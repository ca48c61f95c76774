// Package provider shows how a provider is written, as an example that the tests run: notes, which are files in a folder. docs/providers.md
// explains it.
package provider
