// Package redact takes secrets out of texts. A [Set] holds the secrets that one run knows; it learns them from property values
// and from strings, and replaces them, in each of the forms in which programs and providers write them, by [Mask].
//
// It does not decide what is secret, and it does not hide property values: what is marked as a secret is hidden by whoever
// shows it. It is for texts of others, which may contain anything: messages, errors, output of processes.
//
// Texts of others may be long, and come in pieces. A [Stream] masks pieces as the whole that they are; [Cut] takes the beginning of a
// text, with a note for [Set.Mask] about where it was cut.
//
// Its invariant: no form of a learned secret that is long enough to be one (see [Set.Add]) is in what [Set.Mask] returns, also where the
// forms of several secrets overlap, and no beginning of one where a text was cut.
package redact
