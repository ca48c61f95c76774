// Package conversion converts programs and states of other tools for commands: it runs converter plugins and generators,
// prints their diagnostics, and writes their results where the user chose.
//
// It depends on no tool and no language.
//
// Invariant: no existing file is changed without the user's consent, and the result of a converter is lost only if the
// converter itself reports a failure.
package conversion
