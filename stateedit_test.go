package sluice_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// savedStack is a stack that only takes states. fail says which of its writes fail.
type savedStack struct {
	sluice.Stack
	name  string
	log   *[]string
	now   *sluice.Snapshot
	fail  map[int]bool
	saved int
}

func (s *savedStack) Save(_ context.Context, snapshot *sluice.Snapshot) error {
	s.saved++
	*s.log = append(*s.log, s.name)
	if s.fail[s.saved] {
		return errors.New("no space left")
	}
	s.now = snapshot
	return nil
}

func stackWith(stack string, names ...string) *sluice.Snapshot {
	s := &sluice.Snapshot{Manifest: state.Manifest{Version: "t", Magic: state.Magic("t")}}
	for _, n := range names {
		s.Resources = append(s.Resources, &sluice.Resource{URN: urn.New(stack, "shop", "", "a:b:C", n), Type: "a:b:C", Custom: true, ID: n})
	}
	return s
}

func TestAMoveNeverLosesAResource(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		destFails, sourceFails map[int]bool
		log                    []string
		fails                  string
		inSource, inDest       bool
	}{
		"nothing fails":                  {log: []string{"dest", "source"}, inDest: true},
		"the destination fails":          {destFails: map[int]bool{1: true}, log: []string{"dest"}, fails: "nothing was moved", inSource: true},
		"the source fails":               {sourceFails: map[int]bool{1: true}, log: []string{"dest", "source", "dest"}, fails: "nothing was moved", inSource: true},
		"the source and the way back do": {destFails: map[int]bool{2: true}, sourceFails: map[int]bool{1: true}, log: []string{"dest", "source", "dest"}, fails: "repeat the move", inSource: true, inDest: true},
	} {
		t.Run(name, func(t *testing.T) {
			var log []string
			before := stackWith("prod", "other")
			source := &savedStack{name: "source", log: &log, now: stackWith("dev", "a", "b"), fail: c.sourceFails}
			dest := &savedStack{name: "dest", log: &log, now: before, fail: c.destFails}
			a, err := sluice.FindResource(source.now, "a")
			require.NoError(t, err)
			m, err := sluice.MoveResources(ctx, source.now, dest.now, []*sluice.Resource{a}, sluice.StateMove{Stack: "prod", Project: "shop"})
			require.NoError(t, err)
			err = sluice.SaveMove(ctx, source, dest, m, before)
			if c.fails == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.fails)
				require.ErrorContains(t, err, "no space left")
			}
			require.Equal(t, c.log, log)
			has := func(s *sluice.Snapshot) bool { _, err := sluice.FindResource(s, "a"); return err == nil }
			require.Equal(t, c.inSource, has(source.now))
			require.Equal(t, c.inDest, has(dest.now))
		})
	}
}

func TestAMoveToAStackThatWasNeverDeployedMakesAValidState(t *testing.T) {
	source := stackWith("dev", "a")
	m, err := sluice.MoveResources(context.Background(), source, nil, source.Resources, sluice.StateMove{Stack: "prod", Project: "shop"})
	require.NoError(t, err)
	require.NoError(t, state.Verify(m.Dest))
	require.False(t, m.Dest.Manifest.Time.IsZero())
}
