package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

const stackName = "organization/shop/dev"

func fixedNow() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) }

// sealing encrypts so that double encryption is visible.
type sealing struct{ calls *atomic.Int64 }

func (s sealing) Encrypt(_ context.Context, text string) (string, error) {
	return fmt.Sprintf("sealed %d: %x", s.calls.Add(1), text), nil
}

func (sealing) Decrypt(_ context.Context, ciphertext string) (string, error) {
	var n int64
	var text []byte
	_, err := fmt.Sscanf(ciphertext, "sealed %d: %x", &n, &text)
	return string(text), err
}

var provider = &state.SecretsProvider{Type: "passphrase", State: json.RawMessage(`{"salt":"v1:x:y<&>"}`)}

func ledgerOptions() state.LedgerOptions {
	return state.LedgerOptions{Version: "t", Now: fixedNow, SecretsProvider: provider}
}

func encoderFor(calls *atomic.Int64) *state.Encoder {
	return state.NewEncoder(state.EncoderOptions{Encrypter: sealing{calls}, Crypter: provider.Identity()})
}

func thing(name string, change ...func(*state.Resource)) *state.Resource {
	r := &state.Resource{
		URN: urn.New("dev", "shop", "", "a:b:C", name), Type: "a:b:C", Custom: true, ID: "id-" + name,
		Inputs: property.NewMap(map[string]property.Value{
			"name": property.String(name + "<&>"), "token": property.Secret(property.String("hidden-" + name)),
		}),
	}
	for _, f := range change {
		f(r)
	}
	return r
}

// history generates the records of a run. It applies each record to every recorder it has.
type history struct {
	t       *testing.T
	random  *rand.Rand
	to      []state.Recorder
	live    []*state.Resource
	open    []func()
	count   int
	rebased bool
}

func (h *history) each(f func(state.Recorder) error) {
	h.t.Helper()
	for _, r := range h.to {
		require.NoError(h.t, f(r))
	}
}

func (h *history) begin(op state.Pending) {
	h.each(func(r state.Recorder) error { return r.Begin(context.Background(), op) })
}

func (h *history) end(c state.Change) {
	h.each(func(r state.Recorder) error { return r.End(context.Background(), c) })
}

func (h *history) pick() *state.Resource {
	if len(h.live) == 0 {
		return nil
	}
	return h.live[h.random.IntN(len(h.live))]
}

func (h *history) drop(r *state.Resource) {
	h.live = slices.DeleteFunc(h.live, func(x *state.Resource) bool { return x == r })
}

// changed is a later version of r.
func (h *history) changed(r *state.Resource) *state.Resource {
	h.count++
	c := r.Clone()
	c.Outputs = property.NewMap(map[string]property.Value{
		"n": property.Number(float64(h.count)), "password": property.Secret(property.String(fmt.Sprint("hidden out ", h.count))),
	})
	c.Modified = fixedNow().Add(time.Duration(h.count) * time.Nanosecond)
	return c
}

// step generates one event of the run.
func (h *history) step() {
	if len(h.open) > 0 && h.random.IntN(3) == 0 {
		i := h.random.IntN(len(h.open))
		finish := h.open[i]
		h.open = slices.Delete(h.open, i, i+1)
		finish()
		return
	}
	old := h.pick()
	switch n := h.random.IntN(12); {
	case n < 4 || old == nil:
		h.create()
	case n < 6:
		h.update(old)
	case n < 8:
		h.remove(old)
	case n == 8:
		now := h.changed(old)
		h.end(state.Change{Replace: []state.Replacement{{Old: old, New: now}}, Elide: h.random.IntN(2) == 0})
		h.drop(old)
		h.live = append(h.live, now)
	case n == 9: // it stays unchanged
		now := old.Clone()
		h.end(state.Change{Add: now, Remove: []*state.Resource{old}, Elide: true})
		h.drop(old)
		h.live = append(h.live, now)
	case n == 10:
		h.replace(old)
	case n == 11 && h.random.IntN(3) == 0:
		h.end(state.Change{DropSnippets: []string{[]string{"s1", "s2", "s3"}[h.random.IntN(3)]}})
	case !h.rebased && len(h.open) == 0:
		h.rebase()
	}
}

func (h *history) create() {
	h.count++
	goal := thing(fmt.Sprintf("r%d", h.count))
	goal.ID = ""
	if on := h.pick(); on != nil && !on.Delete {
		goal.Dependencies = []urn.URN{on.URN}
	}
	if h.random.IntN(5) == 0 {
		goal.Aliases = []urn.URN{urn.New("dev", "shop", "", "a:b:C", fmt.Sprintf("was%d", h.count))}
	}
	h.begin(state.Pending{Type: state.Creating, Resource: goal})
	h.open = append(h.open, func() {
		c := state.Change{Begun: goal}
		if h.random.IntN(4) > 0 {
			c.Add = h.changed(goal)
			c.Add.ID = "id"
			if h.random.IntN(4) == 0 {
				c.Add.ExtensionRef, c.Extension = "ext", json.RawMessage(`{"html":"<b>"}`)
			}
			c.Refresh = true // its dependencies may be gone
			h.live = append(h.live, c.Add)
		}
		h.end(c)
	})
}

func (h *history) update(old *state.Resource) {
	goal := h.changed(old)
	h.drop(old)
	h.begin(state.Pending{Type: state.Updating, Resource: goal})
	h.open = append(h.open, func() {
		if h.random.IntN(4) == 0 {
			h.end(state.Change{Begun: goal})
			h.live = append(h.live, old)
			return
		}
		h.end(state.Change{Begun: goal, Add: goal, Remove: []*state.Resource{old}, Refresh: true})
		h.live = append(h.live, goal)
	})
}

func (h *history) remove(old *state.Resource) {
	h.drop(old)
	h.begin(state.Pending{Type: state.Deleting, Resource: old})
	h.open = append(h.open, func() {
		if h.random.IntN(4) == 0 {
			h.end(state.Change{Begun: old})
			h.live = append(h.live, old)
			return
		}
		h.end(state.Change{Begun: old, Remove: []*state.Resource{old}, Refresh: true})
	})
}

func (h *history) replace(old *state.Resource) {
	if old.Delete || len(old.Aliases) > 0 {
		return
	}
	now, copied := h.changed(old), old.Clone()
	now.ID, copied.Delete = "id2", true
	goal := now.Clone()
	h.drop(old)
	h.begin(state.Pending{Type: state.Creating, Resource: goal})
	h.open = append(h.open, func() {
		h.end(state.Change{Begun: goal, Add: now, Replace: []state.Replacement{{Old: old, New: copied}}, Refresh: true})
		h.live = append(h.live, now, copied)
	})
}

func (h *history) rebase() {
	h.rebased = true
	s := &state.Snapshot{
		Resources: slices.Clone(h.live), Metadata: json.RawMessage(`{"x":"<&>"}`),
		Extensions: map[string]json.RawMessage{"ext": json.RawMessage(`{"html":"<i>"}`)},
		Pending:    []state.Pending{{Type: state.Creating, Resource: thing("lost")}},
	}
	if len(s.Resources) > 0 {
		i := h.random.IntN(len(s.Resources))
		s.Resources[i] = h.changed(s.Resources[i])
	}
	h.live = slices.Clone(s.Resources)
	h.each(func(r state.Recorder) error { return r.Rebase(context.Background(), s) })
}
