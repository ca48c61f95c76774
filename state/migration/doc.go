// Package migration applies the state migrations of programs: functions that a registration brings along, and that rewrite the recorded state of its
// resource and of everything below it. A migration changes only the record. It makes no calls of providers, and no object may be lost or appear by it.
package migration
