package service

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend/internal/sealing"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/urn"
)

// entriesAtOnce is the number of entries in a call, and entriesToWait the number that may be on their way before an operation waits for
// the service.
const (
	entriesAtOnce = 500
	entriesToWait = 1000
)

// journal sends each change of a state to the service. The entries are in the order in which the changes were recorded.
type journal struct {
	run      *run
	encoder  *state.Encoder
	provider *state.SecretsProvider
	box      *await.Mailbox[api.Entry]
	work     conc.WaitGroup

	mu       sync.Mutex   // guards the fields below
	onWay    int          // entries that the service does not have
	sent     *await.Event // fires when the service has received more of them
	sequence int64
	last     int64                       // the number of the last operation
	old      map[*state.Resource]int64   // positions in the base
	left     map[urn.URN]*state.Resource // the part of the base that is in no entry; no old copies
	made     map[*state.Resource]int64   // operations
	open     map[*state.Resource]opened  // by the resource that it began with
	snippets []json.RawMessage           // that are left of those of the base
	failed   error                       // why the service does not have all entries
}

// opened is an operation that has begun.
type opened struct {
	number int64
	of     state.Pending
	// carried is set for one that an earlier run had begun.
	carried bool
}

func (j *journal) number(base []*state.Resource) {
	for i, r := range base {
		j.old[r] = int64(i)
		if !r.Delete {
			j.left[r.URN] = r
		}
	}
}

// write makes base the base of the entries. Its pending operations are begun by entries, so that entries can end them.
func (j *journal) write(ctx context.Context, base *state.Snapshot) error {
	without := state.Snapshot{}
	if base != nil {
		without = *base
	}
	without.Pending, without.SecretsProvider = nil, j.provider
	text, err := j.encoder.Deployment(ctx, &without)
	if err == nil {
		text, err = j.run.stack.subject.backend.delivered(ctx, j.provider, text)
	}
	if err != nil {
		return err
	}
	var d api.Deployment
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	j.put(ctx, api.Entry{Kind: api.EntryWrite, Snapshot: d.Deployment})
	j.number(without.Resources)
	if base == nil {
		return nil
	}
	for _, op := range base.Pending {
		if err := j.begin(ctx, op, true); err != nil {
			return err
		}
	}
	return nil
}

// put sends an entry, in its turn. j.mu is held, or the journal is new.
func (j *journal) put(_ context.Context, e api.Entry) {
	j.sequence++
	e.Version, e.Sequence = api.JournalVersion, j.sequence
	j.onWay++
	j.box.Put(e)
}

// wait waits while too many entries are on their way.
func (j *journal) wait(ctx context.Context) {
	for {
		j.mu.Lock()
		full, sent := j.onWay >= entriesToWait, j.sent
		j.mu.Unlock()
		if !full || sent.Wait(ctx) != nil {
			return
		}
	}
}

// arrived records that n entries are no longer on their way.
func (j *journal) arrived(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.onWay -= n
	j.sent.Fire()
	j.sent = await.NewEvent()
}

// begin adds the entry for the begin of an operation. j.mu is held, or the journal is new.
func (j *journal) begin(ctx context.Context, op state.Pending, carried bool) error {
	text, err := j.resource(ctx, op.Resource)
	if err != nil {
		return err
	}
	j.last++
	j.open[op.Resource] = opened{j.last, op, carried}
	j.put(ctx, api.Entry{Kind: api.EntryBegin, Operation: j.last, Begun: &api.PendingOperation{Resource: text, Type: string(op.Type)}})
	return nil
}

// resource returns a resource in the form of entries.
func (j *journal) resource(ctx context.Context, r *state.Resource) ([]byte, error) {
	text, err := j.encoder.Resource(ctx, r, false)
	if err != nil {
		return nil, err
	}
	return j.run.stack.subject.backend.delivered(ctx, j.provider, text)
}

// began is called when the begin of an operation has been recorded.
func (j *journal) began(ctx context.Context, op state.Pending) {
	j.wait(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed == nil {
		j.fail(j.begin(ctx, op, false))
	}
}

// fail records why the service does not have everything. j.mu is held.
func (j *journal) fail(err error) {
	if err != nil && j.failed == nil {
		j.failed = err
	}
}

// ended is called when a change has been recorded.
func (j *journal) ended(ctx context.Context, c state.Change) {
	if j.complete() != nil {
		return // nothing more is sent
	}
	texts := map[*state.Resource][]byte{}
	var err error
	for _, r := range news(c) {
		text, fault := j.resource(ctx, r)
		texts[r], err = text, errors.Join(err, fault)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fail(err); err != nil {
		return
	}
	if len(c.DropSnippets) > 0 {
		j.snippets = state.WithoutSnippets(j.snippets, c.DropSnippets)
		j.put(ctx, api.Entry{Kind: api.EntrySnippets, Snippets: j.snippets})
	}
	if c.Extension != nil && c.Add != nil {
		j.put(ctx, api.Entry{Kind: api.EntryExtension, ExtensionRef: c.Add.ExtensionRef, Extension: c.Extension})
	}
	op, began := j.open[c.Begun]
	if c.Begun != nil {
		delete(j.open, c.Begun)
	}
	j.resolve(ctx, c, op)
	for _, r := range c.Remove {
		j.take(r)
	}
	if c.Add != nil {
		j.fail(j.precede(ctx, c.Add))
	}
	for _, p := range c.Replace {
		if _, inBase := j.old[p.Old]; inBase && refersAnew(p) {
			j.fail(j.remake(ctx, p, texts[p.New], c.Refresh))
			continue
		}
		e := j.about(api.Entry{Kind: api.EntryOutputs, State: texts[p.New]}, p.Old)
		if c.Refresh {
			e.Kind = api.EntryRefresh
		}
		j.put(ctx, e)
		j.move(p)
	}
	for len(c.Remove) > 1 {
		j.last++
		j.put(ctx, j.about(api.Entry{Kind: api.EntrySuccess, Operation: j.last, IsRefresh: c.Refresh}, c.Remove[0]))
		c.Remove = c.Remove[1:]
	}
	e := api.Entry{Kind: api.EntrySuccess, Operation: op.number, IsRefresh: c.Refresh}
	switch {
	case c.Add == nil && len(c.Remove) == 0 && !began:
		return
	case c.Add == nil && len(c.Remove) == 0 && len(c.Replace) == 0:
		e.Kind = api.EntryFailure
	case !began:
		j.last++
		e.Operation = j.last
	}
	if len(c.Remove) == 1 {
		e = j.about(e, c.Remove[0])
	}
	if c.Add != nil {
		e.State = texts[c.Add]
		j.made[c.Add] = e.Operation
	}
	j.put(ctx, e)
}

// take records that an entry concerns a resource of the base. j.mu is held.
func (j *journal) take(r *state.Resource) {
	if j.left[r.URN] == r {
		delete(j.left, r.URN)
	}
}

// precede sends the resources that a resource refers to and that are in no entry yet, as if they had been made again. The service
// puts resources from entries before the rest of the base, and a reference must not lead to a later resource. j.mu is held.
func (j *journal) precede(ctx context.Context, r *state.Resource) error {
	for ref := range r.References() {
		known := j.left[ref.URN]
		if known == nil || known == r {
			continue
		}
		j.take(known)
		if err := j.precede(ctx, known); err != nil {
			return err
		}
		text, err := j.resource(ctx, known)
		if err != nil {
			return err
		}
		j.last++
		e := j.about(api.Entry{Kind: api.EntrySuccess, Operation: j.last, State: text}, known)
		j.put(ctx, e)
		delete(j.old, known)
		j.made[known] = j.last
	}
	return nil
}

// refersAnew reports whether a resource has references that its predecessor did not have: these may lead to a later
// resource of the base.
func refersAnew(p state.Replacement) bool {
	before := map[urn.URN]bool{}
	for ref := range p.Old.References() {
		before[ref.URN] = true
	}
	for ref := range p.New.References() {
		if !before[ref.URN] {
			return true
		}
	}
	return false
}

// remake sends a resource that replaces one of the base as if it had been made. j.mu is held.
func (j *journal) remake(ctx context.Context, p state.Replacement, text []byte, isRefresh bool) error {
	j.take(p.Old)
	if err := j.precede(ctx, p.New); err != nil {
		return err
	}
	j.last++
	j.put(ctx, j.about(api.Entry{Kind: api.EntrySuccess, Operation: j.last, State: text, IsRefresh: isRefresh}, p.Old))
	delete(j.old, p.Old)
	j.made[p.New] = j.last
	return nil
}

// news are the resources that a change puts into the state.
func news(c state.Change) []*state.Resource {
	var all []*state.Resource
	if c.Add != nil {
		all = append(all, c.Add)
	}
	for _, p := range c.Replace {
		all = append(all, p.New)
	}
	return all
}

// about adds a recorded resource to an entry. j.mu is held.
func (j *journal) about(e api.Entry, r *state.Resource) api.Entry {
	if at, is := j.old[r]; is {
		e.RemoveOld = &at
	} else if by, is := j.made[r]; is {
		e.RemoveNew = &by
	}
	return e
}

// move records the new resource at the place of the old one. j.mu is held.
func (j *journal) move(p state.Replacement) {
	if j.left[p.Old.URN] == p.Old {
		delete(j.left, p.Old.URN)
		if !p.New.Delete {
			j.left[p.New.URN] = p.New
		}
	}
	if at, is := j.old[p.Old]; is {
		delete(j.old, p.Old)
		j.old[p.New] = at
	} else if by, is := j.made[p.Old]; is {
		delete(j.made, p.Old)
		j.made[p.New] = by
	}
}

// resolve ends the operations of earlier runs that a change has resolved: their object was updated or deleted again, or was read. j.mu is
// held.
func (j *journal) resolve(ctx context.Context, c state.Change, by opened) {
	if t := by.of.Type; t != state.Updating && t != state.Deleting && !c.Refresh {
		return
	}
	known := slices.Clone(c.Remove)
	for _, p := range c.Replace {
		known = append(known, p.Old)
	}
	for _, op := range slices.SortedFunc(maps.Values(j.open), func(a, b opened) int { return int(a.number - b.number) }) {
		about := op.of.Resource
		if !op.carried || op.of.Type != state.Updating && op.of.Type != state.Deleting {
			continue
		}
		if slices.ContainsFunc(known, func(k *state.Resource) bool { return k.URN == about.URN && (about.ID == "" || k.ID == about.ID) }) {
			delete(j.open, about)
			j.put(ctx, api.Entry{Kind: api.EntryFailure, Operation: op.number})
		}
	}
}

// rebased is called when another base has been recorded.
func (j *journal) rebased(ctx context.Context, base *state.Snapshot) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.put(ctx, api.Entry{Kind: api.EntryRebuilt})
	j.old, j.left, j.made = map[*state.Resource]int64{}, map[urn.URN]*state.Resource{}, map[*state.Resource]int64{}
	open := j.open
	j.open = map[*state.Resource]opened{}
	j.fail(j.write(ctx, base))
	for _, op := range slices.SortedFunc(maps.Values(open), func(a, b opened) int { return int(a.number - b.number) }) {
		if _, again := j.open[op.of.Resource]; !again && !op.carried {
			j.fail(j.begin(ctx, op.of, false))
		}
	}
}

// send sends entries until the box is closed and empty.
func (j *journal) send(ctx context.Context) {
	for {
		first, more := j.box.Take(ctx)
		if !more {
			return
		}
		all := []api.Entry{first}
		for len(all) < entriesAtOnce {
			next, there := j.box.TryTake()
			if !there {
				break
			}
			all = append(all, next)
		}
		if j.complete() == nil {
			if err := j.run.stack.subject.backend.client.SaveEntries(ctx, j.run.lease, all); err != nil {
				j.run.refused(err)
				j.mu.Lock()
				j.fail(err)
				j.mu.Unlock()
			}
		}
		j.arrived(len(all))
	}
}

// complete returns why the service does not have all entries, nil if it has.
func (j *journal) complete() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// featureBytes is the feature of states with texts that are not UTF-8; only their writer can detect them.
const featureBytes = "byteString"

// close waits until the service has everything, and returns the error otherwise. content is the state after all entries.
func (j *journal) close(ctx context.Context, content []byte) error {
	if d, err := deploymentOf(content); err == nil && slices.Contains(d.Features, featureBytes) {
		j.mu.Lock()
		j.put(ctx, api.Entry{Kind: api.EntryOutputs, RequiresByteString: true})
		j.mu.Unlock()
	}
	j.box.Close()
	j.work.Wait()
	return j.complete()
}

// newJournal begins a journal for a run on base, which was read from the state with the digest present.
func newJournal(ctx context.Context, r *run, s *stack, base *state.Snapshot, present string) (*journal, error) {
	seal := sealing.Seal{Manager: s.secrets, Passphrases: s.subject.backend.passphrases().For(s.subject.ref.Project, s.subject.ref.Name)}
	provider := seal.Provider(providerOf(base))
	j := &journal{
		run: r, encoder: seal.Encoder(ctx, provider), provider: provider, box: await.NewMailbox[api.Entry](), sent: await.NewEvent(),
		old: map[*state.Resource]int64{}, left: map[urn.URN]*state.Resource{}, made: map[*state.Resource]int64{}, open: map[*state.Resource]opened{},
	}
	if provider != nil {
		j.put(ctx, api.Entry{Kind: api.EntrySecrets, Secrets: &api.SecretsProvider{Type: provider.Type, State: provider.State}})
	}
	if base != nil {
		j.snippets = base.Snippets
	}
	if base != nil && (base.Origin() != present || len(base.Pending) > 0) {
		if err := j.write(ctx, base); err != nil {
			return nil, err
		}
	} else if base != nil {
		j.number(base.Resources)
	}
	j.work.Go(func() { j.send(context.WithoutCancel(ctx)) })
	return j, nil
}

func providerOf(base *state.Snapshot) *state.SecretsProvider {
	if base == nil {
		return nil
	}
	return base.SecretsProvider
}
