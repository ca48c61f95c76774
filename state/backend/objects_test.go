package backend

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/objects"
)

// shared opens one store in memory any number of times, as processes do.
func shared() func(t *testing.T, notes *[]string) *File {
	s := objects.New(memblob.OpenBucket(nil), objects.Options{URL: "mem://states"})
	return func(t *testing.T, notes *[]string) *File {
		b, err := openFile(context.Background(), Options{
			URL: "mem://states", Project: "shop", Version: "sluice/test", Passphrases: secretstest.Source("p"),
			Note:   func(text string, _ ...advice.Advice) { *notes = append(*notes, text) },
			Stores: map[string]store.Opener{"mem": func(context.Context, string, func(string) (string, bool)) (store.Store, error) { return s, nil }},
		})
		require.NoError(t, err)
		return b
	}
}

func TestAStackInAnObjectStoreIsRecovered(t *testing.T) {
	ctx := context.Background()
	open := shared()
	var notes []string
	b := open(t, &notes)
	s, err := b.Init(ctx, Ref{Project: "shop", Name: "dev"}, secrets.Plain{})
	require.NoError(t, err)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	r := record(t, s, base)
	a := thing("a")
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: a}))
	require.NoError(t, r.End(ctx, state.Change{Begun: a, Add: a}))
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("b")}))
	segments, err := b.storage.store.List(ctx, ".pulumi/sluice/journal/shop/dev/")
	require.NoError(t, err)
	require.NotEmpty(t, segments)

	// The first process is gone; another one comes.
	again, err := open(t, &notes).Open(ctx, s.Ref())
	require.NoError(t, err)
	require.Len(t, notes, 1)
	snapshot, err := again.Load(ctx)
	require.NoError(t, err)
	require.Len(t, snapshot.Resources, 1)
	require.Len(t, snapshot.Pending, 1)
	left, err := b.storage.store.List(ctx, ".pulumi/sluice/")
	require.NoError(t, err)
	require.Empty(t, left)
	updates, _, err := again.History(ctx)
	require.NoError(t, err)
	require.Len(t, updates, 1)

	// A later write of the first one does not overwrite the other's.
	require.ErrorContains(t, r.Close(ctx), "written by somebody else")
	snapshot, err = again.Load(ctx)
	require.NoError(t, err)
	require.Len(t, snapshot.Resources, 1)
}

func TestAStackIsRenamed(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	withSecret := rootOf(map[string]property.Value{"pw": property.Secret(property.String("x"))})
	child := thing("a")
	child.Parent = withSecret.URN
	mustEdit(t, s, snapshotOf(withSecret, child))
	require.NoError(t, s.WriteHistory(ctx, Update{Kind: "update"}))
	require.NoError(t, s.EditTags(ctx, func(tags map[string]string) { tags["k"] = "v" }))
	f.init(b, "taken")
	_, err := b.Rename(ctx, s.Ref(), Ref{Project: "shop", Name: "taken"})
	var exists *ExistsError
	require.ErrorAs(t, err, &exists)
	_, err = b.Rename(ctx, s.Ref(), s.Ref())
	require.ErrorAs(t, err, &exists, "nobody waits for the lock that it has itself")
	_, err = b.Rename(ctx, Ref{Project: "shop", Name: "none"}, Ref{Project: "shop", Name: "new"})
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)

	renamed, err := b.Rename(ctx, s.Ref(), Ref{Project: "other", Name: "new"})
	require.NoError(t, err)
	_, err = b.Open(ctx, s.Ref())
	require.ErrorAs(t, err, &missing)
	require.NotEmpty(t, missing.Backup)
	snapshot, err := renamed.Load(ctx)
	require.NoError(t, err)
	require.Equal(t, "urn:pulumi:new::other::pulumi:pulumi:Stack::other-new", string(snapshot.Resources[0].URN))
	require.Equal(t, snapshot.Resources[0].URN, snapshot.Resources[1].Parent)
	require.Equal(t, "x", snapshot.Resources[0].Outputs.At("pw").AsSecret().AsString())
	updates, _, err := renamed.History(ctx)
	require.NoError(t, err)
	require.Len(t, updates, 1)
	tags, err := renamed.Tags(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"k": "v"}, tags)
	require.NoError(t, renamed.EditTags(ctx, func(tags map[string]string) { clear(tags) }))
	require.JSONEq(t, `{"version": 1, "tags": {}}`, f.read(".pulumi/stacks/other/new.pulumi-tags"))
	for _, stack := range []Stack{s, renamed} {
		locks, err := stack.Locks(ctx)
		require.NoError(t, err)
		require.Empty(t, locks)
	}
}
