package api

import (
	"encoding/json"
)

// The kinds of entries of a journal.
const (
	EntryBegin     = 0 // an operation begins
	EntrySuccess   = 1 // an operation has changed the state
	EntryFailure   = 2 // an operation has ended and changed nothing
	EntryRefresh   = 3 // a resource was read
	EntryOutputs   = 4 // a resource replaces another one in the state
	EntryWrite     = 5 // the entries start from another base
	EntrySecrets   = 6 // the provider of secrets
	EntryRebuilt   = 7 // the result of the entries becomes the base
	EntryExtension = 8 // of a provider
	EntrySnippets  = 9 // the list of snippets that replaces the present one
)

// JournalVersion is the version of the entries.
const JournalVersion = 1

// Entry is one change of a state. Old resources are those of the base, by position; new ones are named by the operation that made them.
type Entry struct {
	Version            int               `json:"version"`
	Kind               int               `json:"kind"`
	Sequence           int64             `json:"sequenceID"` // from 1, without gaps
	Operation          int64             `json:"operationID"`
	RemoveOld          *int64            `json:"removeOld"`
	RemoveNew          *int64            `json:"removeNew"`
	State              json.RawMessage   `json:"state,omitempty"`
	Begun              *PendingOperation `json:"operation,omitempty"`
	IsRefresh          bool              `json:"isRefresh,omitempty"`
	Secrets            *SecretsProvider  `json:"secretsProvider,omitempty"`
	Snapshot           json.RawMessage   `json:"newSnapshot,omitempty"`
	ExtensionRef       string            `json:"extensionRef,omitempty"`
	Extension          json.RawMessage   `json:"extension,omitempty"`
	Snippets           []json.RawMessage `json:"snippets,omitempty"`
	RequiresByteString bool              `json:"requiresByteString,omitempty"`
}

// PendingOperation is an operation that has begun.
type PendingOperation struct {
	Resource json.RawMessage `json:"resource"`
	Type     string          `json:"type"`
}

// SecretsProvider encrypts the secrets of a state.
type SecretsProvider struct {
	Type  string          `json:"type"`
	State json.RawMessage `json:"state,omitempty"`
}
