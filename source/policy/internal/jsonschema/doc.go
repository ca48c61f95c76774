// Package jsonschema checks values by JSON schemas of draft 7, the language of the configuration of policies (protocol.md 7.3). A schema comes from a
// policy pack, so it may be anything: it is checked by the schema of schemas, refers to nothing outside of itself, and may refer to itself.
//
// It is no general library. It prepares nothing before it is used, because every command links it
// (docs/decisions/0276-the-schemas-of-policies.md), and it reads schemas as they are, since each is used once.
//
// Invariant: all faults of a value are reported, in the same order each time.
package jsonschema
