package endphase

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/graph"
	"github.com/sluice-iac/sluice/stages/internal/rooms"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

func TestRetentionFollowsFromStanding(t *testing.T) {
	for name, c := range map[string]struct {
		of   standing
		want retention
	}{
		"registered":        {standing{hasRecordOfBase: true}, retainsNothing},
		"gone":              {standing{isGone: true, hasFailed: true}, retainsNothing},
		"failed":            {standing{hasFailed: true}, retainsAll},
		"failed, and stays": {standing{hasFailed: true, stays: true, hasRecordOfBase: true}, retainsAll},
		"an old copy that a closure has not deleted": {standing{isOfClosure: true, isOld: true}, retainsAll},
		"skipped":                     {standing{isSkipped: true, stays: true, hasRecordOfBase: true}, retainsCurrent},
		"stays":                       {standing{stays: true, hasRecordOfBase: true}, retainsUnchanged},
		"stays, with an old provider": {standing{stays: true, hasRecordOfBase: true, hasOldProvider: true}, retainsCurrent},
		"stays, with a new record":    {standing{stays: true}, retainsNothing},
		"an old copy":                 {standing{stays: true, hasRecordOfBase: true, isOld: true}, retainsNothing},
		"a view":                      {standing{stays: true, hasRecordOfBase: true, isView: true}, retainsNothing},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, retentionOf(c.of)) })
	}
}

// The states are a chain: each depends on the one before it.
func TestRetentionKeepsDependencies(t *testing.T) {
	const provider, bucket, policy, user = 0, 1, 2, 3
	chain := func(present map[graph.ID]*state.Resource) (rooms.EndGraph, func(*state.Resource) *state.Resource) {
		b := &graph.Builder{}
		base := &rooms.Base{}
		for i, typ := range []urn.Type{"pulumi:providers:x", "x:index:Bucket", "x:index:Policy", "x:index:User"} {
			base.Resources = append(base.Resources, &state.Resource{URN: urn.New("dev", "p", "", typ, "it"), Type: typ})
			if id := b.AddNode(); i > 0 {
				b.AddEdge(id, id-1, graph.Dependency)
			}
		}
		base.Graph = b.Graph()
		return rooms.EndGraph{Base: base}, func(r *state.Resource) *state.Resource {
			for id, now := range present {
				if r == base.Resources[id] {
					return now
				}
			}
			return r
		}
	}
	old, other, waits := &state.Resource{Delete: true}, &state.Resource{}, &state.Resource{PendingReplacement: true}
	for name, c := range map[string]struct {
		of      retention
		present map[graph.ID]*state.Resource // of states that have another record now
		standIn bool                         // the bucket is an old copy, and there is no other
		made    *state.Resource              // of each name
		want    []graph.ID
	}{
		"nothing": {retainsNothing, nil, false, nil, nil},
		"all":     {retainsAll, map[graph.ID]*state.Resource{bucket: old, policy: other}, false, nil, []graph.ID{provider, bucket, policy}},
		"current": {retainsCurrent, map[graph.ID]*state.Resource{bucket: old, policy: other}, false, nil, []graph.ID{provider, policy}},
		"current, with a provider that has a new copy": {retainsCurrent, map[graph.ID]*state.Resource{provider: old}, false, nil, []graph.ID{provider, bucket, policy}},
		"current, with a gone one":                     {retainsCurrent, map[graph.ID]*state.Resource{policy: nil}, false, nil, []graph.ID{provider, bucket}},
		"unchanged":                                    {retainsUnchanged, nil, false, nil, []graph.ID{provider, bucket, policy}},
		"unchanged, up to a new record":                {retainsUnchanged, map[graph.ID]*state.Resource{bucket: other}, false, nil, []graph.ID{policy}},
		"unchanged, with a stand-in":                   {retainsUnchanged, nil, true, nil, []graph.ID{provider, bucket, policy}},
		"unchanged, with a new copy of a stand-in":     {retainsUnchanged, nil, true, other, []graph.ID{policy}},
		"current, with a stand-in":                     {retainsCurrent, nil, true, nil, []graph.ID{provider, bucket, policy}},
		"unchanged, with one that awaits replacement":  {retainsUnchanged, map[graph.ID]*state.Resource{bucket: waits}, false, nil, []graph.ID{provider, bucket, policy}},
	} {
		t.Run(name, func(t *testing.T) {
			all, current := chain(c.present)
			if c.standIn {
				res := all.Base.Resources[bucket]
				res.Delete, all.Base.All = true, map[urn.URN][]*state.Resource{res.URN: {res}}
			}
			var kept []graph.ID
			got := retained(all, func(id graph.ID) retention {
				if id == user {
					return c.of
				}
				return retainsNothing
			}, current, func(urn.URN) *state.Resource { return c.made })
			for id := range graph.ID(user + 1) {
				if got[id] {
					kept = append(kept, id)
				}
			}
			require.Equal(t, c.want, kept)
		})
	}
}
