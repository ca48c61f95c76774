package backend

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
)

// A removal that is killed can be repeated until nothing of the stack is left.
func TestKillAtAnyMomentOfARemovalLeavesNothingBehind(t *testing.T) {
	ctx := context.Background()
	for where, fresh := range places() {
		for name, o := range map[string]RemoveOptions{"": {Force: true}, ", with backups": {Force: true, Backups: true}} {
			t.Run(where+name, func(t *testing.T) {
				s := newScene(t, twofolds()["rename"], fresh)
				for moment, ended := 0, false; !ended; moment += s.stride(t) {
					p := s.begin(t)
					b, l := p.process(moment)
					_ = b.Remove(ctx, dev, o)
					ended = !l.dead
					p.bury()
					b, _ = p.process(-1)
					var missing *NotFoundError
					if err := b.Remove(ctx, dev, o); err != nil {
						require.ErrorAs(t, err, &missing)
					}
					require.Empty(t, p.states(), "moment %d", moment)
					_, kept := p.files(".pulumi/")["stacks/shop/dev.json.bak"]
					require.Equal(t, !o.Backups, kept, "moment %d", moment)
					require.Equal(t, !o.Backups, len(p.files(".pulumi/backups/")) > 0)
				}
			})
		}
	}
}

// An upgrade of a store that is killed is completed by the next one.
func TestKillAtAnyMomentOfAnUpgradeIsCompletedByTheNext(t *testing.T) {
	ctx := context.Background()
	legacy := func(stack string) string {
		return strings.ReplaceAll(`{"version":3,"checkpoint":{"stack":"S","latest":{"manifest":{"time":"2020-01-01T00:00:00Z","magic":"","version":""},`+
			`"resources":[{"urn":"urn:pulumi:S::shop::a:b:C::x","custom":true,"id":"S","type":"a:b:C"}],"metadata":{}}}}`, "S", stack)
	}
	for where, fresh := range places() {
		t.Run(where, func(t *testing.T) {
			begin := func() *place {
				p := fresh(t)
				for _, stack := range []string{"one", "two"} {
					p.put(".pulumi/stacks/"+stack+".json", legacy(stack))
					p.put(".pulumi/stacks/"+stack+".pulumi-tags", `{"version":1,"tags":{"k":"v"}}`)
					p.put(".pulumi/history/"+stack+"/"+stack+"-1.history.json", `{"kind":"update"}`)
				}
				return p
			}
			p := begin()
			b, l := p.process(-1)
			all, err := b.Upgrade(ctx, nil)
			require.NoError(t, err)
			require.Equal(t, []Upgraded{{Name: "one", Project: "shop"}, {Name: "two", Project: "shop"}}, all)
			want := p.states()
			require.Len(t, want, 6)
			stride := (&scene{slow: p.slow}).stride(t)
			for moment := 0; moment < l.seen; moment += stride {
				p := begin()
				b, _ := p.process(moment)
				_, _ = b.Upgrade(ctx, nil)
				p.bury()
				b, _ = p.process(-1)
				all, err := b.Upgrade(ctx, nil)
				require.NoError(t, err)
				for _, u := range all {
					require.NoError(t, u.Err, "moment %d", moment)
				}
				require.Equal(t, want, p.states(), "moment %d", moment)
				require.Empty(t, p.files(".pulumi/sluice/"))
				again, err := b.Upgrade(ctx, nil)
				require.NoError(t, err)
				require.Empty(t, again)
			}
		})
	}
}

// Secrets are encrypted anew by the state and then by the configuration. In between, and after a kill at any moment of the
// state's write, each can be read with its own key.
func TestKillAtAnyMomentOfAChangeOfTheSecretsProviderLeavesAStateThatCanBeRead(t *testing.T) {
	ctx := context.Background()
	for where, fresh := range places() {
		t.Run(where, func(t *testing.T) {
			s := newScene(t, twofolds()["rename"], fresh)
			oldKeys, newKeys := s.keys, secretstest.Source("new")
			m, _, err := secrets.NewManager(ctx, "passphrase", newKeys)
			require.NoError(t, err)
			old := 0
			for moment, ended := 0, false; !ended; moment++ {
				p := s.begin(t)
				b, l := p.process(-1)
				stack, err := b.Open(ctx, dev)
				require.NoError(t, err)
				snapshot, err := stack.Load(ctx)
				require.NoError(t, err)
				held, err := stack.Lock(ctx, LockOptions{})
				require.NoError(t, err)
				l.left = moment
				_ = stack.WithSecrets(m).Save(ctx, snapshot)
				ended = !l.dead
				_ = held.Close() // a dead process keeps it
				p.bury()
				read := func(keys secrets.Source) error {
					p.keys = keys
					b, _ := p.process(-1)
					stack, err := b.Open(ctx, dev)
					require.NoError(t, err)
					snapshot, err := stack.Load(ctx)
					if err == nil {
						require.Equal(t, "sw0rdfish", snapshot.Resources[0].Inputs.At("pw").AsSecret().AsString())
					}
					return err
				}
				before, after := read(oldKeys), read(newKeys)
				require.True(t, (before == nil) != (after == nil), "moment %d: %v, %v", moment, before, after)
				require.ErrorIs(t, errors.Join(before, after), secrets.ErrIncorrectPassphrase)
				if before == nil {
					old++
				} else {
					require.NoError(t, after)
				}
				require.False(t, ended && before == nil)
			}
			require.Positive(t, old)
		})
	}
}
