package layout

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAKeyNamesItsStack(t *testing.T) {
	for key, want := range map[string]Stack{
		".pulumi/stacks/shop/dev.json": {"shop", "dev"}, ".pulumi/stacks/shop/dev.json.gz": {"shop", "dev"},
		".pulumi/stacks/shop/dev.json.zst": {"shop", "dev"}, ".pulumi/stacks/shop/a.b.yaml": {"shop", "a.b"},
		".pulumi/stacks/shop/dev.json.bak": {}, ".pulumi/stacks/shop/dev.pulumi-tags": {}, ".pulumi/stacks/dev.json": {},
		".pulumi/stacks/shop/sub/dev.json": {}, ".pulumi/stacks/shop/a b.json": {},
	} {
		s, is := StackOf(key, false)
		require.Equal(t, want != Stack{}, is, key)
		if is {
			require.Equal(t, want, s, key)
		}
	}
	s, is := StackOf(".pulumi/stacks/dev.json", true)
	require.True(t, is)
	require.Equal(t, Stack{Name: "dev"}, s)
	_, is = StackOf(".pulumi/stacks/shop/dev.json", true)
	require.False(t, is)
}

func TestAKeyNamesTheStacksThatItIsOf(t *testing.T) {
	for key, stacks := range map[string][2]Stack{
		".pulumi/sluice/pairs/other/prod/shop/dev.json": {{"other", "prod"}, {"shop", "dev"}},
		".pulumi/sluice/pairs/shop/dev/~/dev.json":      {{"shop", "dev"}, {"", "dev"}},
	} {
		require.Equal(t, key, Intent(stacks))
		found, is := IntentOf(key)
		require.True(t, is)
		require.Equal(t, stacks, found)
	}
	for _, key := range []string{"shop/dev.json", "../../shop/dev.json", "shop/../shop/dev.json", "shop/dev/~/...json"} {
		_, is := IntentOf(".pulumi/sluice/pairs/" + key)
		require.False(t, is, key)
	}
}

func TestKeysOfAStack(t *testing.T) {
	s := Stack{"shop", "dev"}
	require.Equal(t, []string{
		".pulumi/stacks/shop/dev.json.bak", ".pulumi/stacks/shop/dev.json.gz.bak", ".pulumi/stacks/shop/dev.json.zst.bak",
	}, s.Previous())
	require.Equal(t, ".pulumi/locks/organization/shop/dev", s.Locks())
	require.Equal(t, ".pulumi/locks/dev", Stack{Name: "dev"}.Locks())
	require.Equal(t, ".pulumi/sluice/journal/shop/dev.jnl.base", s.JournalBase())
}
