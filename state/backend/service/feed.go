package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// feedEvery is the time between two checkpoints for the service.
const feedEvery = 2 * time.Second

// feed is a recorder of a working copy. A service that takes journals gets each change; another gets a checkpoint from time to time and
// at the end.
type feed struct {
	state.Recorder
	run     *run
	ahead   func(context.Context, ...*state.Resource) // encrypts their new secrets
	journal *journal                                  // nil for checkpoints
	stop    context.CancelFunc
	work    conc.WaitGroup

	mu       sync.Mutex // guards the fields below, and is locked while a checkpoint is sent
	sent     string     // the digest of the content that the service has
	text     []byte     // of the latest checkpoint whose bytes count
	sequence int
	closed   bool
}

// Begin implements [state.Recorder].
func (f *feed) Begin(ctx context.Context, op state.Pending) error {
	if err := f.run.lostBecause(); err != nil {
		return err
	}
	f.ahead(ctx, op.Resource)
	err := f.Recorder.Begin(ctx, op)
	if err == nil && f.journal != nil {
		f.journal.began(ctx, op)
	}
	return err
}

// End implements [state.Recorder].
func (f *feed) End(ctx context.Context, c state.Change) error {
	if all := news(c); len(all) > 0 {
		f.ahead(context.WithoutCancel(ctx), all...)
	}
	err := f.Recorder.End(ctx, c)
	if err == nil && f.journal != nil {
		f.journal.ended(context.WithoutCancel(ctx), c)
	}
	return err
}

// Rebase implements [state.Recorder].
func (f *feed) Rebase(ctx context.Context, base *state.Snapshot) error {
	if err := f.run.lostBecause(); err != nil {
		return err
	}
	err := f.Recorder.Rebase(ctx, base)
	if err == nil && f.journal != nil {
		f.journal.rebased(context.WithoutCancel(ctx), base)
	}
	return err
}

// follow sends checkpoints until ctx ends. If one cannot be sent, a later one contains it.
func (f *feed) follow(ctx context.Context) {
	for await.For(ctx, feedEvery) == nil && f.run.lostBecause() == nil {
		if err := f.send(ctx); err != nil {
			f.run.refused(err)
		}
	}
}

// send sends the checkpoint of the working copy if the service does not have it.
func (f *feed) send(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, err := f.run.held.workingCopy.content(ctx)
	if err != nil || content == nil || state.Digest(content) == f.sent {
		return err
	}
	d, err := f.run.stack.subject.outgoing(ctx, content)
	if err != nil || d.Deployment == nil {
		return err
	}
	can, err := f.run.stack.subject.backend.capabilities(ctx)
	if err != nil {
		return err
	}
	if can.Delta {
		err = f.saveText(ctx, d, can.DeltaCutoff)
	} else {
		err = f.run.stack.subject.backend.client.SaveCheckpoint(ctx, f.run.lease, d)
	}
	if err == nil {
		f.sent = state.Digest(content)
	}
	return err
}

// saveText sends a checkpoint as the difference from the one before if that is worth it.
func (f *feed) saveText(ctx context.Context, d api.Deployment, cutoff int) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	client := f.run.stack.subject.backend.client
	f.sequence++
	if f.text != nil && len(f.text) >= cutoff && len(text) >= cutoff {
		edits, err := json.Marshal(editsOf(f.text, text))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(text)
		delta := api.Delta{Version: d.Version, Hash: hex.EncodeToString(sum[:]), Sequence: f.sequence, Delta: edits}
		if err = client.SaveDelta(ctx, f.run.lease, delta); err == nil {
			f.text = text
			return nil
		}
		f.run.refused(err)
		if f.run.lostBecause() != nil || api.IsAway(err) {
			return err
		}
		f.sequence++ // the service may have another text, and gets the whole of this one
	}
	err = client.SaveVerbatim(ctx, f.run.lease, api.Verbatim{Version: d.Version, Content: text, Sequence: f.sequence})
	if err == nil {
		f.text = text
	}
	return err
}

// Close implements [state.Recorder]. Changes that the service refuses stay in the working copy.
func (f *feed) Close(ctx context.Context) error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	f.mu.Unlock()
	if again {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if f.journal == nil {
		f.stop()
	}
	f.work.Wait()
	err := f.Recorder.Close(ctx)
	lost := f.sendLast(ctx)
	f.stop()
	if lost == nil {
		lost = f.run.lostBecause()
	}
	if lost != nil {
		return errors.Join(err, &UnsentError{f.run.stack.subject.ref, f.run.held.workingCopy.name(), lost})
	}
	return errors.Join(err, f.run.held.workingCopy.mark(ctx, unsent{Update: f.run.created.ID.ID, Version: f.run.lease.Version - 1, Sent: true}))
}

// sendLast sends the changes that the service does not have yet.
func (f *feed) sendLast(ctx context.Context) error {
	if f.journal != nil {
		content, err := f.run.held.workingCopy.content(ctx)
		return errors.Join(err, f.journal.close(ctx, content))
	}
	if f.run.lostBecause() != nil {
		return nil
	}
	err := f.send(ctx)
	if err != nil {
		f.run.refused(err)
	}
	return err
}

// edit replaces a part of a text, in the form that the service takes.
type edit struct {
	Span    span
	NewText string
}

type span struct {
	URI   string `json:"uri"`
	Start point  `json:"start"`
	End   point  `json:"end"`
}

type point struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

// editsOf returns the edits that turn one text into another, in order, each of whole resources.
func editsOf(before, after []byte) []edit {
	old, now := spansOf(before), spansOf(after)
	places := map[string][]int{}
	offsets := make([]int, len(old)+1)
	for i, s := range old {
		places[string(s)] = append(places[string(s)], i)
		offsets[i+1] = offsets[i] + len(s)
	}
	edits := []edit{}
	next := 0 // of the old spans
	var text []byte
	until := func(i int) {
		if i > next || len(text) > 0 {
			at := func(i int) point { return point{Line: 1, Offset: offsets[i]} }
			edits = append(edits, edit{span{Start: at(next), End: at(i)}, string(text)})
		}
		text = nil
	}
	for _, s := range now {
		same := places[string(s)]
		for len(same) > 0 && same[0] < next {
			same = same[1:]
		}
		if len(same) == 0 {
			text = append(text, s...)
			continue
		}
		until(same[0])
		next, places[string(s)] = same[0]+1, same[1:]
	}
	until(len(old))
	return edits
}

// spansOf cuts the text of a state at the beginning of each resource.
func spansOf(text []byte) [][]byte {
	begin := []byte(`{"urn":`)
	var all [][]byte
	for len(text) > 0 {
		at := bytes.Index(text[1:], begin)
		if at < 0 {
			return append(all, text)
		}
		all = append(all, text[:at+1])
		text = text[at+1:]
	}
	return all
}
