package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// UpdateID names an update of a stack, of whatever kind.
type UpdateID struct {
	Stack StackID
	ID    string
}

// path names all updates as if they were of the kind "update": the service takes them by their ID.
func (u UpdateID) path(parts ...string) string {
	return u.Stack.path(append([]string{"update", u.ID}, parts...)...)
}

// ConfigValue is a setting as the service records it.
type ConfigValue struct {
	String string `json:"string"` // JSON if Object is set; if Secret is set, a ciphertext or with ciphertexts in it
	Secret bool   `json:"secret"`
	Object bool   `json:"object"`
}

// Program describes an update to create.
type Program struct {
	Name        string                 `json:"name"`
	Runtime     string                 `json:"runtime"`
	Main        string                 `json:"main"`
	Description string                 `json:"description"`
	Options     ProgramOptions         `json:"options"`
	Config      map[string]ConfigValue `json:"config"`
	Metadata    Metadata               `json:"metadata"`
}

// ProgramOptions are the options that the service records.
type ProgramOptions struct {
	PolicyPacks []string `json:"localPolicyPackPaths"`
	Color       string   `json:"color"`
	DryRun      bool     `json:"dryRun"`
	Parallel    int32    `json:"parallel"`
}

// Metadata is the reason and origin of an update.
type Metadata struct {
	Message     string            `json:"message"`
	Environment map[string]string `json:"environment"`
}

// RequiredPolicy is a policy pack that an update must be held to.
type RequiredPolicy struct {
	Name         string                     `json:"name"`
	Version      int                        `json:"version"`
	VersionTag   string                     `json:"versionTag"`
	DisplayName  string                     `json:"displayName"`
	Location     string                     `json:"packLocation"`
	Config       map[string]json.RawMessage `json:"config"`
	Environments []string                   `json:"environments"`
}

// policies is the answer of the call for the policy packs of a stack. A service leaves the list out if there are none.
type policies struct {
	Policies []RequiredPolicy `json:"requiredPolicies"`
}

func (a *policies) check(members) error { return named(a.Policies) }

// named returns an error if a policy pack has no name.
func named(all []RequiredPolicy) error {
	for _, p := range all {
		if err := text("name", p.Name); err != nil {
			return fmt.Errorf("a policy pack: %w", err)
		}
	}
	return nil
}

// Created is an update that has been made and has not begun.
type Created struct {
	ID       UpdateID
	Policies []RequiredPolicy
}

// created is the answer of the call that makes an update.
type created struct {
	ID       string           `json:"updateID"`
	Policies []RequiredPolicy `json:"requiredPolicies"`
	Messages []Message        `json:"messages"`
}

func (a *created) check(members) error { return errors.Join(text("updateID", a.ID), named(a.Policies)) }

// Lease is the right to carry out an update. It is safe for concurrent use.
type Lease struct {
	Update  UpdateID
	Version int // of the stack once the update is complete
	// Journal is the version of the journal that the service takes instead of checkpoints; 0 for none.
	Journal int

	mu    sync.Mutex // guards token
	token string
}

// Token returns the present token.
func (l *Lease) Token() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.token
}

func (l *Lease) set(token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token = token
}

// started is the answer of the call that begins an update.
type started struct {
	Version int    `json:"version"`
	Token   string `json:"token"`
	Journal int    `json:"journalVersion"`
	offered int    // the version of the journal that was offered
}

func (a *started) check(given members) error {
	switch {
	case a.Version < 0:
		return fmt.Errorf("its version is %d", a.Version)
	case a.Journal < 0 || a.Journal > a.offered:
		return fmt.Errorf("it takes version %d of the journal, and %d was offered", a.Journal, a.offered)
	}
	return errors.Join(given.need("version"), leaseToken(a.Token))
}

// leaseToken returns an error unless a text has the form of a lease token.
func leaseToken(value string) error {
	if !isToken(value) {
		return errors.New("its token is not valid: it has spaces, control characters or characters outside ASCII")
	}
	return text("token", value)
}

// LeaseTime is how long a lease lasts at first, and the maximum time of a renewal.
const LeaseTime = 5 * time.Minute

// renewed is the answer of the call that renews a lease.
type renewed struct {
	Token string `json:"token"`
}

func (a *renewed) check(members) error { return leaseToken(a.Token) }

// Verbatim is a checkpoint whose exact bytes matter: later ones are differences from it.
type Verbatim struct {
	Version  int             `json:"version"`
	Content  json.RawMessage `json:"untypedDeployment"`
	Sequence int             `json:"sequenceNumber"` // grows with every checkpoint of an update
}

// Delta is a checkpoint as the difference from the one before.
type Delta struct {
	Version  int             `json:"version"`
	Hash     string          `json:"checkpointHash"` // SHA-256 of the result, in hex
	Sequence int             `json:"sequenceNumber"`
	Delta    json.RawMessage `json:"deploymentDelta"` // edits of the text
}

// The results of an update.
const (
	NotStarted = "not started"
	Requested  = "requested"
	Running    = "running"
	Succeeded  = "succeeded"
	Failed     = "failed"
	Cancelled  = "cancelled"
)

// status is the answer of the call for the status of an update.
type status struct {
	Status string  `json:"status"`
	Next   *string `json:"continuationToken"`
}

func (a *status) check(members) error {
	if err := text("status", a.Status); err != nil {
		return err
	}
	ended := a.Status == Succeeded || a.Status == Failed || a.Status == Cancelled
	if isOpen := slices.Contains([]string{NotStarted, Requested, Running}, a.Status); isOpen && (a.Next == nil || *a.Next == "") {
		return fmt.Errorf("its status is %q, and no more will come", a.Status)
	} else if !isOpen && !ended {
		return fmt.Errorf("its status is %q, which no update has", a.Status)
	}
	return nil
}

// Info is an update in the history of a stack.
type Info struct {
	Kind            string                 `json:"kind"`
	StartTime       int64                  `json:"startTime"`
	Message         string                 `json:"message"`
	Environment     map[string]string      `json:"environment"`
	Config          map[string]ConfigValue `json:"config"`
	Result          string                 `json:"result"`
	EndTime         int64                  `json:"endTime"`
	Version         int                    `json:"version"`
	ResourceChanges map[string]int         `json:"resourceChanges"`
	ResourceCount   int                    `json:"resourceCount"`
}

// history is a page of it.
type history struct {
	Updates []Info `json:"updates"`
}

func (a *history) check(given members) error {
	for _, u := range a.Updates {
		if err := errors.Join(text("kind", u.Kind), text("result", u.Result)); err != nil {
			return fmt.Errorf("an update: %w", err)
		}
	}
	return given.list("updates")
}

// EventFilter selects events of an update. The zero value selects all.
type EventFilter struct {
	Types     []string // numbers of the service
	URN       string
	Undecided bool // also events that are not yet activated
}

// recorded is a page of the events of an update.
type recorded struct {
	Events []json.RawMessage `json:"events"`
	Next   *string           `json:"continuationToken"`
}

func (a *recorded) check(given members) error {
	for _, e := range a.Events {
		if len(e) == 0 || e[0] != '{' {
			return errors.New("an event is not an object")
		}
	}
	return given.list("events")
}
