package servicetest

import (
	"encoding/json"
	"maps"
	"slices"
)

// The kinds of entries of a journal.
const (
	entryBegin = iota
	entrySuccess
	entryFailure
	entryRefreshed
	entryOutputs
	entryWrite
	entrySecrets
	entryRebuilt
	entryExtension
	entrySnippets
)

// entry is an entry of a journal.
type entry struct {
	Version            int             `json:"version"`
	Kind               int             `json:"kind"`
	Sequence           int64           `json:"sequenceID"`
	Operation          int64           `json:"operationID"`
	RemoveOld          *int64          `json:"removeOld"`
	RemoveNew          *int64          `json:"removeNew"`
	PendingOld         *int64          `json:"pendingReplacementOld"`
	PendingNew         *int64          `json:"pendingReplacementNew"`
	DeleteOld          *int64          `json:"deleteOld"`
	DeleteNew          *int64          `json:"deleteNew"`
	State              resource        `json:"state"`
	What               *operation      `json:"operation"`
	IsRefresh          bool            `json:"isRefresh"`
	Secrets            json.RawMessage `json:"secretsProvider"`
	Snippets           json.RawMessage `json:"snippets"`
	Snapshot           json.RawMessage `json:"newSnapshot"`
	ExtensionRef       *string         `json:"extensionRef"`
	Extension          json.RawMessage `json:"extension"`
	RequiresByteString bool            `json:"requiresByteString"`
}

type resource = map[string]any

type operation struct {
	Resource resource `json:"resource"`
	Type     string   `json:"type"`
}

// base is the initial state of a journal.
type base struct {
	Manifest   json.RawMessage            `json:"manifest"`
	Secrets    json.RawMessage            `json:"secrets_providers,omitempty"`
	Resources  []resource                 `json:"resources,omitempty"`
	Pending    []operation                `json:"pending_operations,omitempty"`
	Metadata   json.RawMessage            `json:"metadata,omitempty"`
	Snippets   json.RawMessage            `json:"snippets,omitempty"`
	Extensions map[string]json.RawMessage `json:"extensions,omitempty"`
}

// journal replays the entries of an update on a state.
type journal struct {
	version  int
	features []string
	base     base
	seen     map[int64]bool // sequence numbers

	gone, marked, pending map[int64]bool     // of the base, by position
	replaced              map[int64]resource // of the base, by position
	made                  []resource
	at                    map[int64]int // positions in made, by operation
	removed               map[int64]bool
	open                  map[int64]operation
	refreshed             bool
}

func newJournal(d deployment) (*journal, error) {
	j := &journal{version: d.Version, features: d.Features, seen: map[int64]bool{}}
	err := json.Unmarshal(d.Deployment, &j.base)
	j.reset()
	return j, err
}

func (j *journal) reset() {
	j.gone, j.marked, j.pending = map[int64]bool{}, map[int64]bool{}, map[int64]bool{}
	j.replaced, j.made, j.at = map[int64]resource{}, nil, map[int64]int{}
	j.removed, j.open = map[int64]bool{}, map[int64]operation{}
}

func (j *journal) add(e entry) error {
	if e.Version != 1 {
		return violate("an entry of version %d", e.Version)
	}
	if e.Sequence < 1 {
		return violate("an entry with the number %d", e.Sequence)
	}
	for _, at := range []*int64{e.RemoveOld, e.DeleteOld, e.PendingOld} {
		if at != nil && (*at < 0 || *at >= int64(len(j.base.Resources))) {
			return violate("an entry about resource %d of %d", *at, len(j.base.Resources))
		}
	}
	for _, op := range []*int64{e.RemoveNew, e.DeleteNew, e.PendingNew} {
		if op == nil {
			continue
		}
		if _, there := j.at[*op]; !there {
			return violate("an entry about what operation %d has made, which has made nothing", *op)
		}
	}
	switch e.Kind {
	case entryBegin:
		if e.What != nil { // an operation that changes nothing outside the state has no record of its own
			j.open[e.Operation] = *e.What
		}
	case entrySuccess:
		delete(j.open, e.Operation)
		if e.State != nil {
			if _, there := j.at[e.Operation]; there {
				return violate("operation %d makes two resources", e.Operation)
			}
			j.at[e.Operation] = len(j.made)
			j.made = append(j.made, e.State)
		}
		j.remove(e)
		j.refreshed = j.refreshed || e.IsRefresh
	case entryRefreshed, entryOutputs:
		delete(j.open, e.Operation)
		j.refreshed = j.refreshed || e.Kind == entryRefreshed
		if e.State == nil {
			j.remove(e)
			return nil
		}
		if e.RemoveOld != nil {
			j.replaced[*e.RemoveOld] = e.State
		}
		if e.RemoveNew != nil {
			j.made[j.at[*e.RemoveNew]] = e.State
		}
	case entryFailure:
		delete(j.open, e.Operation)
	case entryWrite:
		j.base = base{}
		return json.Unmarshal(e.Snapshot, &j.base)
	case entrySecrets:
		j.base.Secrets = e.Secrets
	case entrySnippets:
		j.base.Snippets = e.Snippets
	case entryRebuilt:
		j.base = j.result()
		j.reset()
	case entryExtension:
		if j.base.Extensions == nil {
			j.base.Extensions = map[string]json.RawMessage{}
		}
		j.base.Extensions[*e.ExtensionRef] = e.Extension
	default:
		return violate("an entry of kind %d", e.Kind)
	}
	return nil
}

func (j *journal) remove(e entry) {
	if e.RemoveOld != nil {
		j.gone[*e.RemoveOld] = true
	}
	if e.RemoveNew != nil {
		j.removed[*e.RemoveNew] = true
	}
	if e.DeleteOld != nil {
		j.marked[*e.DeleteOld] = true
	}
	if e.PendingOld != nil {
		j.pending[*e.PendingOld] = true
	}
	if e.DeleteNew != nil {
		j.made[j.at[*e.DeleteNew]]["delete"] = true
	}
	if e.PendingNew != nil {
		j.made[j.at[*e.PendingNew]]["pendingReplacement"] = true
	}
}

// result returns the state after the entries.
func (j *journal) result() base {
	b := j.base
	b.Resources, b.Pending = nil, nil
	left := map[int]bool{}
	for op := range j.removed {
		left[j.at[op]] = true
	}
	for i, r := range j.made {
		if !left[i] {
			b.Resources = append(b.Resources, r)
		}
	}
	for i, r := range j.base.Resources {
		at := int64(i)
		if j.gone[at] {
			continue
		}
		if now, is := j.replaced[at]; is {
			b.Resources = append(b.Resources, now)
			continue
		}
		r = maps.Clone(r)
		if j.marked[at] {
			r["delete"] = true
		}
		if j.pending[at] {
			r["pendingReplacement"] = true
		}
		b.Resources = append(b.Resources, r)
	}
	for _, op := range slices.Sorted(maps.Keys(j.open)) {
		b.Pending = append(b.Pending, j.open[op])
	}
	for _, op := range j.base.Pending {
		if op.Type == "creating" {
			b.Pending = append(b.Pending, op)
		}
	}
	if j.refreshed {
		undangle(b.Resources)
	}
	return b
}

// undangle drops references to resources that a refresh has not found any more.
func undangle(all []resource) {
	there := map[any]bool{}
	parents := map[any]any{}
	for _, r := range all {
		if list, is := r["dependencies"].([]any); is {
			r["dependencies"] = slices.DeleteFunc(slices.Clone(list), func(d any) bool { return !there[d] })
		}
		if properties, is := r["propertyDependencies"].(map[string]any); is {
			for name, list := range properties {
				if list, is := list.([]any); is {
					properties[name] = slices.DeleteFunc(slices.Clone(list), func(d any) bool { return !there[d] })
				}
			}
		}
		if p, is := r["parent"]; is && !there[p] {
			delete(r, "parent")
			if above, is := parents[p]; is {
				r["parent"] = above
			}
		}
		there[r["urn"]] = true
		if p, is := r["parent"]; is {
			parents[r["urn"]] = p
		}
	}
}

func (j *journal) deployment() (deployment, error) {
	b, err := json.Marshal(j.result())
	if err != nil {
		return deployment{}, err
	}
	var copied base // the entries keep their aliases
	if err := json.Unmarshal(b, &copied); err != nil {
		return deployment{}, err
	}
	withoutAliases(copied.Resources)
	b, err = json.Marshal(copied)
	return deployment{Version: max(j.version, 3), Features: j.features, Deployment: b}, err
}
