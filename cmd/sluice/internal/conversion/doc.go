// Package conversion converts programs and states of other tools for commands: it runs converter plugins and generators, shows
// what they say, and puts what they give where the user wants it.
//
// It knows no tool and no language.
//
// Invariant: no file that exists is changed unless the user has said so, and what a converter has given is lost only if the
// converter itself says that it has failed.
package conversion
