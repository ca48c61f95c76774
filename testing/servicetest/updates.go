package servicetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The states of an update.
const (
	notStarted = "not started"
	running    = "running"
	succeeded  = "succeeded"
	failed     = "failed"
	cancelled  = "cancelled"
)

type configValue struct {
	String string `json:"string"`
	Secret bool   `json:"secret"`
	Object bool   `json:"object"`
}

// program describes the program of an update.
type program struct {
	Name        string `json:"name"`
	Runtime     string `json:"runtime"`
	Main        string `json:"main"`
	Description string `json:"description"`
	Options     struct {
		PolicyPacks          []string `json:"localPolicyPackPaths"`
		Color                string   `json:"color"`
		DryRun               bool     `json:"dryRun"`
		Parallel             int32    `json:"parallel"`
		ShowConfig           bool     `json:"showConfig"`
		ShowReplacementSteps bool     `json:"showReplacementSteps"`
		ShowSames            bool     `json:"showNames"`
		Summary              bool     `json:"summary"`
		Debug                bool     `json:"debug"`
	} `json:"options"`
	Config   map[string]configValue `json:"config"`
	Metadata struct {
		Message     string            `json:"message"`
		Environment map[string]string `json:"environment"`
	} `json:"metadata"`
}

type update struct {
	id, kind, user, status string
	program                program
	dryRun                 bool
	started, ended         time.Time
	tokens                 map[string]time.Time // the tokens of its lease, with their expiry
	version                int                  // of the stack; 0 for a preview
	state                  deployment           // at the end of the update
	text                   []byte               // the latest verbatim checkpoint
	sequence               int                  // of the latest checkpoint
	events                 map[int]json.RawMessage
	journal                *journal // nil if the update writes none
}

func (u *update) info() any {
	result := map[string]string{succeeded: "succeeded", failed: "failed", cancelled: "failed", running: "in-progress", notStarted: "not-started"}[u.status]
	config, environment := u.program.Config, u.program.Metadata.Environment
	if config == nil {
		config = map[string]configValue{}
	}
	if environment == nil {
		environment = map[string]string{}
	}
	out := map[string]any{
		"kind": u.kind, "startTime": u.started.Unix(), "message": u.program.Metadata.Message, "environment": environment,
		"config": config, "result": result, "endTime": u.ended.Unix(), "version": u.version,
	}
	if n := len(resourcesOf(u.state)); n > 0 {
		out["resourceCount"] = n
	}
	for _, e := range u.events {
		var event struct {
			Summary *struct {
				Changes map[string]int `json:"resourceChanges"`
			} `json:"summaryEvent"`
		}
		if json.Unmarshal(e, &event) == nil && event.Summary != nil {
			out["resourceChanges"] = event.Summary.Changes
		}
	}
	return out
}

func (s *Server) createUpdate(r *request, k *stack, kind string) (any, error) {
	u := &update{
		id: s.chance.id(), kind: kind, user: r.user, status: notStarted, events: map[int]json.RawMessage{}, tokens: map[string]time.Time{},
	}
	if err := r.into(&u.program); err != nil {
		return nil, err
	}
	if u.program.Name == "" || u.program.Runtime == "" {
		return nil, violate("POST %s: the program has no name or no runtime", kind)
	}
	if kind == "preview" && !u.program.Options.DryRun {
		return nil, violate("POST preview: a preview that is not one")
	}
	u.dryRun = u.program.Options.DryRun
	k.updates = append(k.updates, u)
	return map[string]any{"updateID": u.id, "requiredPolicies": s.required(k.organization)}, nil
}

// routeUpdate handles the calls about an update.
func (s *Server) routeUpdate(r *request, k *stack, id, what string) (any, error) {
	at := slices.IndexFunc(k.updates, func(u *update) bool { return u.id == id })
	if at < 0 {
		return nil, refuse(http.StatusNotFound, "Not Found: Update %s not found", id)
	}
	u := k.updates[at]
	switch r.Method + " " + what {
	case "POST ", "GET ", "POST cancel", "GET events":
		if r.user == "" {
			return nil, violate("%s %s: with the token of an update", r.Method, r.URL.Path)
		}
	default:
		switch {
		case r.lease == "":
			return nil, violate("%s %s: with an access token", r.Method, r.URL.Path)
		case u.status != running || !s.chance.Now.Before(u.tokens[r.lease]):
			return nil, refuse(http.StatusForbidden, "Forbidden: The Update Token has expired or is invalid.")
		}
	}
	switch r.Method + " " + what {
	case "POST ":
		return s.start(r, k, u)
	case "GET ":
		out := map[string]any{"status": u.status, "events": []any{}}
		if u.status == running || u.status == notStarted {
			out["continuationToken"] = "more"
		}
		return out, nil
	case "GET events":
		return s.recorded(r, u)
	case "POST cancel":
		if u.status != running && u.status != notStarted {
			return nil, refuse(http.StatusConflict, "Conflict: The Update has already completed.")
		}
		return nil, k.end(u, cancelled, s.chance.Now)
	case "POST renew_lease":
		var in struct {
			Token    string `json:"token"`
			Duration int    `json:"duration"`
		}
		if err := r.into(&in); err != nil {
			return nil, err
		}
		if in.Duration < 1 || in.Duration > 300 || in.Token != "" {
			return nil, violate("POST renew_lease: %d seconds, token %q", in.Duration, in.Token)
		}
		return s.lease(u, min(time.Duration(in.Duration)*time.Second, s.options.Lease)), nil
	case "POST events/batch":
		return nil, u.record(r)
	case "POST complete":
		var in struct {
			Status string `json:"status"`
		}
		if err := r.into(&in); err != nil {
			return nil, err
		}
		if !slices.Contains([]string{succeeded, failed, cancelled}, in.Status) {
			return nil, violate("POST complete: %q", in.Status)
		}
		return nil, k.end(u, in.Status, s.chance.Now)
	}
	if u.dryRun {
		return nil, violate("%s %s: by a preview", r.Method, r.URL.Path)
	}
	switch r.Method + " " + what {
	case "PATCH checkpoint":
		return nil, k.checkpoint(r, u)
	case "PATCH checkpointverbatim":
		return nil, k.verbatim(r, u)
	case "PATCH checkpointdelta":
		return nil, s.delta(r, k, u)
	case "PATCH journalentries":
		return nil, k.addEntries(r, u)
	}
	return nil, violate("%s %s: there is no such call", r.Method, r.URL.Path)
}

func (s *Server) start(r *request, k *stack, u *update) (any, error) {
	var in struct {
		Tags    map[string]string `json:"tags"`
		Journal int64             `json:"journalVersion"`
	}
	if err := r.into(&in); err != nil {
		return nil, err
	}
	if u.status != notStarted {
		return nil, violate("POST %s: it has begun already", r.URL.Path)
	}
	if other := k.running(); !u.dryRun && other != nil {
		if other.holds(s.chance.Now) {
			return nil, refuse(http.StatusConflict, "Conflict: Another update is currently in progress.")
		}
		if err := k.end(other, cancelled, s.chance.Now); err != nil {
			return nil, err
		}
	}
	if in.Tags != nil {
		k.tags = in.Tags
	}
	u.status, u.started = running, s.chance.Now
	out := s.lease(u, s.options.Lease)
	out["version"] = k.version
	if !u.dryRun {
		k.active = u
		out["version"] = k.version + 1
		if s.options.Journal && in.Journal >= 1 {
			out["journalVersion"] = 1
			var err error
			if u.journal, err = newJournal(k.export()); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// lease issues a token for an update. Earlier tokens stay valid until they expire.
func (s *Server) lease(u *update, lasts time.Duration) map[string]any {
	token, until := s.chance.token(), s.chance.Now.Add(lasts)
	u.tokens[token] = until
	return map[string]any{"token": token, "tokenExpiration": until.Unix()}
}

// holds reports whether a token of an update is valid at a time.
func (u *update) holds(now time.Time) bool {
	for _, until := range u.tokens {
		if now.Before(until) {
			return true
		}
	}
	return false
}

func (u *update) record(r *request) error {
	var in struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := r.into(&in); err != nil {
		return err
	}
	for _, raw := range in.Events {
		var event map[string]json.RawMessage
		var sequence, timestamp int
		if json.Unmarshal(raw, &event) != nil || json.Unmarshal(event["sequence"], &sequence) != nil ||
			json.Unmarshal(event["timestamp"], &timestamp) != nil || timestamp == 0 {
			return violate("POST events/batch: an event without sequence or timestamp: %s", raw)
		}
		if len(event) != 3 {
			return violate("POST events/batch: an event that is not one thing: %s", raw)
		}
		for name := range event {
			if !slices.Contains(eventNames, name) {
				return violate("POST events/batch: unknown event %s", name)
			}
		}
		if old, there := u.events[sequence]; there && !bytes.Equal(old, raw) {
			return violate("POST events/batch: two events have the number %d", sequence)
		}
		u.events[sequence] = raw
	}
	return nil
}

// recorded answers the call for the events of an update, a page of them.
func (s *Server) recorded(r *request, u *update) (any, error) {
	query := r.URL.Query()
	for name := range query {
		if !slices.Contains([]string{"continuationToken", "type", "urn", "include_non_activated"}, name) {
			return nil, violate("GET events: unknown condition %s", name)
		}
	}
	var all []json.RawMessage
	for _, number := range slices.Sorted(maps.Keys(u.events)) {
		if raw := u.events[number]; strings.Contains(string(raw), query.Get("urn")) {
			all = append(all, raw)
		}
	}
	at := 0
	if query.Has("continuationToken") {
		if n, err := fmt.Sscanf(query.Get("continuationToken"), "after-%d", &at); err != nil || n != 1 || at > len(all) {
			return nil, violate("GET events: a token that was not given out")
		}
	}
	end := min(at+s.options.PageSize, len(all))
	out := map[string]any{"events": append([]json.RawMessage{}, all[at:end]...)}
	if end < len(all) {
		out["continuationToken"] = "after-" + strconv.Itoa(end)
	}
	return out, nil
}

// LatestUpdate returns the ID of the latest update or preview of a stack, "" if there is none. name is "organization/project/stack".
func (s *Server) LatestUpdate(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.stacks[name]
	if k == nil || len(k.updates) == 0 {
		return ""
	}
	return k.updates[len(k.updates)-1].id
}

// Events returns the events of the latest update or preview of a stack, in the order of their numbers. name is "organization/project/stack".
func (s *Server) Events(name string) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.stacks[name]
	if k == nil || len(k.updates) == 0 {
		return nil
	}
	u := k.updates[len(k.updates)-1]
	var all []json.RawMessage
	for _, number := range slices.Sorted(maps.Keys(u.events)) {
		all = append(all, u.events[number])
	}
	return all
}

var eventNames = []string{
	"sequence", "timestamp", "cancelEvent", "stdoutEvent", "diagnosticEvent", "preludeEvent", "summaryEvent", "resourcePreEvent",
	"resOutputsEvent", "resOpFailedEvent", "policyEvent", "policyRemediationEvent", "policyLoadEvent", "policyAnalyzeSummaryEvent",
	"policyRemediateSummaryEvent", "policyAnalyzeStackSummaryEvent", "startDebuggingEvent", "progressEvent", "errorEvent",
}

func (u *update) mayCheckpoint() error {
	if u.journal != nil {
		return violate("a checkpoint by an update that writes a journal")
	}
	return nil
}

func (s *Server) delta(r *request, k *stack, u *update) error {
	var in struct {
		Version  int    `json:"version"`
		Hash     string `json:"checkpointHash"`
		Sequence int    `json:"sequenceNumber"`
		Edits    []struct {
			Span struct {
				Start struct {
					Offset int `json:"offset"`
					Line   int `json:"line"`
					Column int `json:"column"`
				} `json:"start"`
				End struct {
					Offset int `json:"offset"`
					Line   int `json:"line"`
					Column int `json:"column"`
				} `json:"end"`
				URI string `json:"uri"`
			} `json:"Span"`
			NewText string `json:"NewText"`
		} `json:"deploymentDelta"`
	}
	if err := r.into(&in); err != nil {
		return err
	}
	if err := u.mayCheckpoint(); err != nil {
		return err
	}
	if !s.options.Delta || u.text == nil {
		return violate("PATCH checkpointdelta: there is nothing that it could be the difference from")
	}
	if in.Sequence <= u.sequence {
		if sum := sha256.Sum256(u.text); hex.EncodeToString(sum[:]) == in.Hash {
			return nil // a repeated call
		}
		return violate("PATCH checkpointdelta: number %d after %d", in.Sequence, u.sequence)
	}
	var out []byte
	at := 0
	for _, e := range in.Edits {
		from, to := e.Span.Start.Offset, e.Span.End.Offset
		if from < at || to < from || to > len(u.text) {
			return violate("PATCH checkpointdelta: an edit of %d to %d", from, to)
		}
		out = append(append(out, u.text[at:from]...), e.NewText...)
		at = to
	}
	out = append(out, u.text[at:]...)
	if sum := sha256.Sum256(out); hex.EncodeToString(sum[:]) != in.Hash {
		return refuse(http.StatusBadRequest, "Bad Request: the hash of the checkpoint does not fit")
	}
	return k.take(u, out, in.Sequence)
}
