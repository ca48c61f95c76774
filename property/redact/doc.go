// Package redact takes secrets out of texts. A [Set] holds the secrets of one run; it collects them from property values and from
// strings, and replaces them, in each of the forms in which programs and providers write them, by [Mask].
//
// It does not decide which values are secret, and it does not hide property values: whoever shows a property value hides it if it is
// marked secret. It is for texts from outside, which may contain anything: messages, errors, output of processes.
//
// Such texts may be long, and come in pieces. A [Stream] masks pieces as if they were one text; [Cut] takes the beginning of a text,
// with a note for [Set.Mask] about where it was cut.
//
// Its invariant: the result of [Set.Mask] has no form of a secret in the set that is long enough to count (see [Set.Add]), also where
// the forms of several secrets overlap, and no beginning of one where a text was cut.
package redact
