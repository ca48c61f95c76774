package backend

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/urn"
)

// FuzzFiles puts any bytes into one of the files of a store. Opening the stack succeeds, or returns an error that names the
// file, and changes no file of a state, except for an operation on two stacks that had really begun.
func FuzzFiles(f *testing.F) {
	dev, prod := layout.Stack{Project: "shop", Name: "dev"}, layout.Stack{Project: "shop", Name: "prod"}
	keys := []string{
		layout.Meta(), dev.File(), dev.File() + ".gz", dev.Tags(), dev.History() + "/dev-1768000000000000000.history.json",
		layout.Intent([2]layout.Stack{dev, prod}), dev.Journal(), dev.JournalBase(),
	}
	for i, texts := range [][]string{
		{"version: 1\n", "version: 99\n", "a: [", "version: {}\n", "&a [*a]"},
		{
			`{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"manifest":{},"resources":[{"urn":"` + string(urn.RootStack("dev", "shop")) +
				`","custom":false,"type":"pulumi:pulumi:Stack","outputs":{"a":1}}]}}}`, "{}", "null", `{"version":4,"features":["x"],"checkpoint":{}}`,
		},
		{"\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd\x00"},
		{`{"version":1,"tags":{"a":"b"}}`, `{"version":2}`, "[]"},
		{`{"kind":"update","startTime":1,"message":"","environment":{},"config":{},"result":"succeeded","endTime":2}`, "{", "null"},
		{`{"format":1,"operation":"rename","tool":"t","start":"2026-01-02T03:04:05Z","sides":[{"before":"","after":""},{"before":"x","after":""}]}`, `{"format":2}`, ""},
		{"", "{}", "sluice"},
		{"", "{}"},
	} {
		for _, text := range texts {
			f.Add(byte(i), []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		x := newFixture(t)
		b := x.open()
		x.init(b, "dev")
		x.init(b, "prod")
		key := keys[int(which)%len(keys)]
		x.write(key, string(data))
		states := func() map[string]string {
			found := map[string]string{}
			for _, name := range x.files() {
				if strings.HasPrefix(name, ".pulumi/stacks/") && !strings.HasSuffix(name, "tags") {
					found[name] = x.read(name)
				}
			}
			return found
		}
		before := states()
		check := func(err error) {
			if err != nil {
				require.ErrorContains(t, err, x.dir)
			}
		}
		ctx := context.Background()
		again, err := openFile(ctx, Options{URL: "file://" + x.dir, Project: "shop", Version: "sluice/test", Passphrases: secretstest.Source("p")})
		check(err)
		if err != nil || again.storage.legacy {
			return
		}
		ref, err := again.Resolve("dev")
		require.NoError(t, err)
		s, err := again.Open(ctx, ref)
		check(err)
		if err == nil {
			_, err = s.Load(ctx)
			check(err)
			_, err = s.Tags(ctx)
			check(err)
			_, warnings, err := s.History(ctx)
			require.NoError(t, err)
			for _, w := range warnings {
				require.Contains(t, w, x.dir)
			}
		}
		require.Equal(t, before, states())
	})
}
