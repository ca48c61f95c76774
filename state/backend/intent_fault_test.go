package backend

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// failing is a store in which some writes and removals fail.
type failing struct {
	store.Store
	fails  func(doing, key string) bool
	before func(key string) // called before a key is written
}

var errFull = errors.New("no space left")

func (f failing) Write(ctx context.Context, key string, content []byte, c store.Condition) (store.Info, error) {
	if f.before != nil {
		f.before(key)
	}
	if f.fails("write", key) {
		return store.Info{}, errFull
	}
	return f.Store.Write(ctx, key, content, c)
}

func (f failing) Remove(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if f.fails("remove", key) {
			return errFull
		}
	}
	return f.Store.Remove(ctx, keys...)
}

// failures makes the named operations fail, as often as they are named.
func failures(named ...string) func(doing, key string) bool {
	left := map[string]int{}
	for _, n := range named {
		left[n]++
	}
	return func(doing, key string) bool {
		what := doing + " " + strings.TrimPrefix(key, ".pulumi/")
		left[what]--
		return left[what] >= 0
	}
}

const (
	devFile, prodFile = "stacks/shop/dev.json", "stacks/other/prod.json"
	intentFile        = "sluice/pairs/other/prod/shop/dev.json"
)

// A failure without a kill is undone, so that nothing has happened. If that fails too, the operation is completed
// later.
func TestAFailureOfAnOperationOnTwoStacksIsUndoneOrCompletedLater(t *testing.T) {
	scenes := newScenes(t, "object store")
	for name, c := range map[string]struct {
		of     string
		fails  []string
		says   string
		undone bool
	}{
		"the record of a move":    {"move", []string{"write " + intentFile}, "nothing was moved: no space left", true},
		"the record of a rename":  {"rename", []string{"write " + intentFile}, "nothing was renamed: no space left", true},
		"the destination":         {"move", []string{"write " + prodFile}, "nothing was moved: write mem://states/.pulumi/stacks/other/prod.json: no space", true},
		"the new name":            {"rename", []string{"write " + prodFile}, "nothing was renamed: write", true},
		"the source":              {"move", []string{"write " + devFile}, "nothing was moved: write", true},
		"the old name":            {"rename", []string{"remove " + devFile}, "nothing was renamed: no space left", true},
		"the source and the end":  {"move", []string{"write " + devFile, "remove " + intentFile}, "the move of resources from stack dev to stack organization/other/prod has begun", false},
		"the old name and back":   {"rename", []string{"remove " + devFile, "remove " + prodFile}, "the next operation", false},
		"the end":                 {"move", []string{"remove " + intentFile}, "no space left", false},
		"the tags":                {"rename", []string{"remove stacks/shop/dev.pulumi-tags"}, "not everything of organization/shop/dev is gone", false},
		"the record and its end":  {"move", []string{"write " + intentFile, "remove " + intentFile}, "nothing was moved: no space left", true},
		"the end of a rename too": {"rename", []string{"remove " + intentFile}, "no space left", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenes[c.of]
			p := s.begin(t)
			b, _ := p.process(-1)
			b.storage.store = failing{b.storage.store, failures(c.fails...), nil}
			err := s.do(p, b)
			require.ErrorIs(t, err, errFull)
			require.ErrorContains(t, err, c.says)
			if c.undone {
				p.settled(s.start)
				require.NoError(t, s.do(p, b))
				p.settled(s.done)
				return
			}
			require.Len(t, p.files(".pulumi/locks/organization/"), 2, "the locks are kept")
			p.bury()
			b, _ = p.process(-1)
			_, err = b.Open(context.Background(), prod)
			require.NoError(t, err)
			require.Len(t, p.notes, 1)
			p.settled(s.done)
		})
	}
}

func TestALockThatARenameCannotGiveBackIsTold(t *testing.T) {
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	b.storage.store = failing{b.storage.store, func(doing, key string) bool {
		return doing == "remove" && strings.HasPrefix(key, ".pulumi/locks/organization/shop/dev/")
	}, nil}
	_, err := b.Rename(context.Background(), s.Ref(), Ref{Project: "shop", Name: "prod"})
	require.ErrorIs(t, err, errFull)
	require.Equal(t, []advice.Advice{advice.On(advice.CancelLock)}, advice.Of(err))
}

// Another process ignores the lock and writes while the operation goes on: its writes are not overwritten.
func TestAnOperationOnTwoStacksStopsAtWhatSomebodyElseWrites(t *testing.T) {
	ctx := context.Background()
	scenes := newScenes(t, "object store")
	for name, c := range map[string]struct {
		at, says string
		written  bool // the first file is written
	}{
		"before the first file":     {intentFile, "nothing was moved: mem://states/.pulumi/stacks/shop/dev.json has been written by somebody else", false},
		"before the first is there": {prodFile, "somebody else has written stack dev meanwhile", true},
		"before the second is":      {devFile, "the next operation on one of the two stacks says what to do", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenes["move"]
			p := s.begin(t)
			theirs := s.start[devFile] + " "
			b, _ := p.process(-1)
			b.storage.store = failing{b.storage.store, failures(), func(key string) {
				if key == ".pulumi/"+c.at {
					p.put(".pulumi/"+devFile, theirs)
				}
			}}
			require.ErrorContains(t, s.do(p, b), c.says)
			require.Equal(t, theirs, p.states()[devFile])
			require.Equal(t, c.written, p.states()[prodFile] == s.done[prodFile])
			p.bury()
			b, _ = p.process(-1)
			_, err := b.stack(prod).Lock(ctx, LockOptions{})
			var undecided *JournalError
			require.Equal(t, c.written, errors.As(err, &undecided), "%v", err)
		})
	}
}

// newScenes are the scenes of all operations.
func newScenes(t *testing.T, where string) map[string]*scene {
	t.Helper()
	all := map[string]*scene{}
	for what, o := range twofolds() {
		all[what] = newScene(t, o, places()[where])
	}
	return all
}

// interrupted is a place in which an operation was killed as soon as its first file was written, and whose locks are gone.
func (c *scene) interrupted(t *testing.T) *place {
	t.Helper()
	for ; ; c.first++ {
		p := c.begin(t)
		b, _ := p.process(c.first)
		_ = c.do(p, b)
		if p.states()[prodFile] == c.done[prodFile] {
			require.Len(t, p.files(".pulumi/sluice/pairs/"), 1)
			require.Equal(t, c.start[devFile], p.states()[devFile])
			p.bury()
			return p
		}
	}
}

func TestAnOperationOnTwoStacksIsNotCompletedOverWhatSomebodyElseHasWritten(t *testing.T) {
	ctx := context.Background()
	scenes := newScenes(t, "directory")
	for name, c := range map[string]struct {
		of      string
		theirs  string // the file that another process writes
		foreign string
		advice  advice.Action
		says    []string
	}{
		"the source of a move": {"move", devFile, "dev", advice.DiscardMove, []string{
			"stack dev needs a decision: the move of resources from stack dev to stack organization/other/prod was interrupted, and stack dev has " +
				"been written by somebody else since; it was not completed", "Both stacks record\n  urn:pulumi:dev::shop::a:b:C::a (ID a)",
		}},
		"the destination of a move":  {"move", prodFile, "organization/other/prod", advice.DiscardMove, []string{"stack organization/other/prod has been written"}},
		"the old name of a stack":    {"rename", devFile, "dev", advice.DiscardRename, []string{"the rename of stack dev to organization/other/prod was interrupted", "(ID b)"}},
		"the new name of a stack":    {"rename", prodFile, "organization/other/prod", advice.DiscardRename, nil},
		"the first file, as it was":  {"move", "", "organization/other/prod", advice.DiscardMove, nil},
		"a damaged record of a move": {"move", intentFile, "", advice.DiscardMove, []string{"cannot be used"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenes[c.of]
			p := s.interrupted(t)
			switch c.theirs {
			case intentFile:
				p.put(".pulumi/"+intentFile, strings.Replace(p.files(".pulumi/")[intentFile], `"after":"`, `"after":"0`, 1))
			case "": // another process has done the second part, and restored the first file
				p.put(".pulumi/"+devFile, s.done[devFile])
				p.put(".pulumi/"+prodFile, s.start[prodFile])
			default:
				p.put(".pulumi/"+c.theirs, p.states()[c.theirs]+" ")
			}
			theirs := p.states()
			for _, ref := range []Ref{dev, prod} {
				b, _ := p.process(-1)
				p.notes = nil
				stack, err := b.Open(ctx, ref)
				require.NoError(t, err, "it can be read")
				require.Len(t, p.notes, 1)
				_, err = stack.Lock(ctx, LockOptions{})
				var undecided *JournalError
				require.ErrorAs(t, err, &undecided)
				var why *IntentError
				require.ErrorAs(t, err, &why)
				require.Equal(t, c.foreign, why.Foreign)
				require.Equal(t, []advice.Advice{advice.On(c.advice)}, advice.Of(err))
				if ref == dev {
					for _, text := range c.says {
						require.ErrorContains(t, err, text)
					}
				}
				require.ErrorAs(t, b.Remove(ctx, ref, RemoveOptions{}), &undecided)
				require.Equal(t, theirs, p.states())
				require.Empty(t, p.files(".pulumi/locks/"))
			}
			b, _ := p.process(-1)
			stack, err := b.Open(ctx, dev)
			require.NoError(t, err)
			where, err := stack.DiscardJournal(ctx)
			require.NoError(t, err)
			require.Equal(t, theirs, p.states())
			require.Empty(t, p.files(".pulumi/sluice/pairs/"))
			if c.theirs == intentFile {
				require.Contains(t, where, "sluice/salvage/shop/dev.")
			} else {
				kept, err := os.ReadFile(strings.Split(where, " and ")[0])
				require.NoError(t, err)
				require.Equal(t, s.done[prodFile], string(kept), "what it was about to write can be had")
			}
			for _, ref := range []Ref{dev, prod} {
				l, err := b.stack(ref).Lock(ctx, LockOptions{})
				require.NoError(t, err)
				require.NoError(t, l.Close())
			}
		})
	}
}

// When no resource can be in both stacks any more, there is nothing to decide.
func TestAnOperationOnStacksThatAreGoneIsPutAside(t *testing.T) {
	ctx := context.Background()
	scenes := newScenes(t, "object store")
	for name, c := range map[string]struct {
		of   string
		gone []string
		open Ref
	}{
		"both stacks of a move":                            {"move", []string{devFile, prodFile}, dev},
		"both names of a stack":                            {"rename", []string{devFile, prodFile}, prod},
		"the new name, and the old one is somebody else's": {"rename", []string{prodFile}, dev},
	} {
		t.Run(name, func(t *testing.T) {
			s := scenes[c.of]
			p := s.interrupted(t)
			for _, key := range c.gone {
				require.NoError(t, p.store().Remove(ctx, ".pulumi/"+key))
			}
			if len(c.gone) == 1 {
				p.put(".pulumi/"+devFile, p.states()[devFile]+" ")
			}
			theirs := p.states()
			b, _ := p.process(-1)
			_, err := b.Open(ctx, c.open)
			require.Equal(t, len(c.gone) == 1, err == nil)
			require.Len(t, p.notes, 1)
			require.Contains(t, p.notes[0], "is kept in mem://states/.pulumi/sluice/salvage/other/prod.")
			require.Equal(t, theirs, p.states())
			require.Empty(t, p.files(".pulumi/sluice/pairs/"))
			if len(c.gone) == 2 {
				_, err := b.Init(ctx, dev, secrets.Plain{})
				require.NoError(t, err)
			}
		})
	}
}

func TestAnOperationOnTwoStacksIsLeftAloneWhileSomebodyWorksOnOneOfThem(t *testing.T) {
	ctx := context.Background()
	s := newScene(t, twofolds()["move"], places()["object store"])
	p := s.interrupted(t)
	between := p.states()
	b, _ := p.process(-1)
	l, err := b.stack(prod).files.lock(ctx, LockOptions{})
	require.NoError(t, err)
	stack, err := b.Open(ctx, dev)
	require.NoError(t, err)
	require.Empty(t, p.notes)
	_, err = stack.Lock(ctx, LockOptions{})
	var held *lock.HeldError
	require.ErrorAs(t, err, &held)
	require.ErrorContains(t, err, "complete an operation on the stacks dev and organization/other/prod that was interrupted")
	require.Equal(t, between, p.states())

	// `cancel` on one of them breaks the locks of both: the interrupted process had both.
	locks, err := stack.Locks(ctx)
	require.NoError(t, err)
	require.Len(t, locks, 1)
	p.put(".pulumi/locks/organization/other/prod/theirs.json", `{"pid":1,"username":"u","hostname":"h","timestamp":"2026-01-01T00:00:00Z"}`)
	locks, err = stack.Locks(ctx)
	require.NoError(t, err)
	n, err := stack.BreakLocks(ctx, locks)
	require.NoError(t, err)
	require.Equal(t, 1, n, "not Pulumi's, who knows nothing of the operation")
	require.NoError(t, l.Release())
	_, err = stack.Lock(ctx, LockOptions{})
	require.ErrorAs(t, err, &held)
	p.bury()
	own, err := stack.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	require.Len(t, p.notes, 1)
	require.NoError(t, own.Close())
	p.settled(s.done)
}

func TestRemovingAStackByForceCompletesWhatItWasPartOf(t *testing.T) {
	ctx := context.Background()
	s := newScene(t, twofolds()["move"], places()["object store"])
	p := s.interrupted(t)
	b, _ := p.process(-1)
	require.NoError(t, b.Remove(ctx, dev, RemoveOptions{Force: true}))
	require.Equal(t, map[string][]string{"prod": {"c", "a"}}, p.resources())
	require.Empty(t, p.files(".pulumi/sluice/"))

	p = s.interrupted(t)
	p.put(".pulumi/"+devFile, p.states()[devFile]+" ")
	b, _ = p.process(-1)
	require.NoError(t, b.Remove(ctx, dev, RemoveOptions{Force: true}))
	require.Equal(t, map[string][]string{"prod": {"c", "a"}}, p.resources())
	require.Empty(t, p.files(".pulumi/sluice/pairs/"))
	require.Len(t, p.files(".pulumi/sluice/salvage/"), 2)
}
