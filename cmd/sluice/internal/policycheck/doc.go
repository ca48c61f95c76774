// Package policycheck checks recorded resources against running policy packs, without a program and without calls of providers.
//
// It neither starts packs nor prints: the caller loads the state and the packs, and gets events.
//
// Invariant: the events are in the order of the resources and packs, however long each pack takes.
package policycheck
