package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/journal"
	"github.com/sluice-iac/sluice/state/lock"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/secrets/secretstest"
	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/testing/scratch"
	"github.com/sluice-iac/sluice/urn"
)

func TestMain(m *testing.M) { os.Exit(scratch.Run(m)) }

// fixture is a store in a temporary directory, with a clock that ticks.
type fixture struct {
	*testing.T
	dir  string
	env  map[string]string
	tick int64
}

func newFixture(t *testing.T) *fixture {
	return &fixture{T: t, dir: t.TempDir(), env: map[string]string{}}
}

func (f *fixture) open() *File {
	f.Helper()
	b, err := openFile(context.Background(), Options{
		URL: "file://" + f.dir, Project: "shop", Version: "sluice/test", Passphrases: secretstest.Source("p"),
		Environment: func(name string) (string, bool) { v, ok := f.env[name]; return v, ok },
		Now: func() time.Time {
			f.tick++
			return time.Date(2026, 1, 2, 3, 4, 5, int(f.tick), time.UTC)
		},
	})
	require.NoError(f, err)
	return b
}

func (f *fixture) init(b *File, name string) Stack {
	f.Helper()
	ref, err := b.Resolve(name)
	require.NoError(f, err)
	s, err := b.Init(context.Background(), ref, secrets.Plain{})
	require.NoError(f, err)
	return s
}

// files lists everything in the store, relative to it.
func (f *fixture) files() []string {
	var all []string
	require.NoError(f, filepath.WalkDir(f.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, err := filepath.Rel(f.dir, path)
			require.NoError(f, err)
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	}))
	return all
}

func (f *fixture) write(name, content string) {
	path := filepath.Join(f.dir, name)
	require.NoError(f, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(f, os.WriteFile(path, []byte(content), 0o666))
}

func (f *fixture) read(name string) string {
	b, err := os.ReadFile(filepath.Join(f.dir, name))
	require.NoError(f, err)
	return string(b)
}

const stackFile = ".pulumi/stacks/shop/dev.json"

func rootOf(outputs map[string]property.Value) *state.Resource {
	return &state.Resource{URN: urn.RootStack("dev", "shop"), Type: urn.RootStackType, Outputs: property.NewMap(outputs)}
}

func thing(name string) *state.Resource {
	return &state.Resource{URN: urn.New("dev", "shop", "", "a:b:C", name), Type: "a:b:C", Custom: true, ID: name}
}

func snapshotOf(rs ...*state.Resource) *state.Snapshot {
	return &state.Snapshot{Manifest: state.Manifest{Version: "t", Magic: state.Magic("t")}, Resources: rs}
}

func TestInitWritesTheFirstDeployment(t *testing.T) {
	f := newFixture(t)
	b := f.open()
	require.Empty(t, f.files(), "opening writes nothing")
	s := f.init(b, "dev")
	require.Equal(t, []string{".pulumi/meta.yaml", stackFile}, f.files())
	require.Equal(t, "version: 1\n", f.read(".pulumi/meta.yaml"))
	require.Equal(t, `{"version":3,"checkpoint":{"stack":"organization/shop/dev","latest":{"manifest":{"time":`+
		`"2026-01-02T03:04:05.000000001Z","magic":"`+state.Magic("sluice/test")+`","version":"sluice/test"},`+
		`"secrets_providers":{"type":"b64"},"metadata":{}}}}`, f.read(stackFile))
	snapshot, err := s.Load(context.Background())
	require.NoError(t, err)
	require.Empty(t, snapshot.Resources)

	_, err = b.Init(context.Background(), s.Ref(), nil)
	require.EqualError(t, err, "stack 'dev' already exists")
	locks, err := s.Locks(context.Background())
	require.NoError(t, err)
	require.Empty(t, locks)
}

func TestStackNames(t *testing.T) {
	b := newFixture(t).open()
	for text, want := range map[string]string{
		"dev": "organization/shop/dev", "organization/dev": "organization/shop/dev", "organization/other/dev": "organization/other/dev",
		"acme/dev": "!organization name must be 'organization'", "acme/shop/dev": "!must be 'organization'", "a/b/c/d": "!must have the form",
		"": "!may only contain alphanumeric", "a b": "!may only contain alphanumeric", "organization/p!/x": "!project name", "..": "!file name", strings.Repeat("x", 101): "!may only contain alphanumeric",
	} {
		ref, err := b.Resolve(text)
		if problem, bad := strings.CutPrefix(want, "!"); bad {
			require.ErrorContains(t, err, problem, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, ref.String())
	}
	require.Equal(t, "dev", Ref{Project: "shop", Name: "dev"}.Display("shop", Organization))
	require.Equal(t, "organization/shop/dev", Ref{Project: "shop", Name: "dev"}.Display("other", Organization))
	b.storage.options.Project = ""
	_, err := b.Resolve("dev")
	require.ErrorIs(t, err, errNoProject)
}

func TestBackendURLs(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com": "Pulumi's service", "gopher://x": `unknown scheme "gopher"; there are file://, s3://`, "/abs": "URL",
	} {
		_, err := Open(context.Background(), Options{URL: text, Stores: map[string]store.Opener{"s3": nil}})
		require.ErrorIs(t, err, ErrScheme)
		require.ErrorContains(t, err, want)
	}
	dir := filepath.Join(t.TempDir(), "new")
	_, err := Open(context.Background(), Options{URL: "file://" + dir})
	require.ErrorContains(t, err, "unable to open state directory "+dir)
	_, err = Open(context.Background(), Options{URL: "file://" + dir + "?create_dir=true"})
	require.NoError(t, err)
	require.DirExists(t, dir)
}

func TestMetaFile(t *testing.T) {
	for name, c := range map[string]struct {
		meta   string
		legacy bool
		err    string
	}{
		"project mode": {meta: "version: 1\n"}, "legacy mode": {meta: "version: 0\n", legacy: true}, "empty": {meta: "", err: "corrupt store: missing version in"},
		"no version": {meta: "a: 1", err: "missing version"}, "newer": {meta: "version: 2", err: "newer"}, "no YAML": {meta: "\t{", err: "corrupt store"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(".pulumi/meta.yaml", c.meta)
			b, err := openFile(context.Background(), Options{URL: "file://" + f.dir})
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.legacy, b.storage.legacy)
		})
	}
}

func TestLegacyStoreIsOnlyRead(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	f.write(".pulumi/stacks/dev.json", `{"version":3,"checkpoint":{"latest":{"manifest":{"time":"2020-01-01T00:00:00Z","magic":"","version":""}}}}`)
	b := f.open()
	list, err := b.Stacks(ctx, Filter{Project: "shop"})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, Ref{Name: "dev"}, list[0].Ref)
	ref, err := b.Resolve("organization/dev")
	require.NoError(t, err)
	s, err := b.Open(ctx, ref)
	require.NoError(t, err)
	_, err = s.Load(ctx)
	require.NoError(t, err)
	_, err = b.Init(ctx, Ref{Project: "shop", Name: "new"}, nil)
	require.ErrorIs(t, err, ErrLegacy)
	_, err = b.Rename(ctx, ref, Ref{Project: "shop", Name: "new"})
	require.ErrorIs(t, err, ErrLegacy)
	require.Equal(t, []string{".pulumi/stacks/dev.json"}, f.files())
	mustEdit(t, s, snapshotOf(thing("a")))
	require.Contains(t, f.files(), ".pulumi/stacks/dev.json")
	require.NotContains(t, f.files(), ".pulumi/meta.yaml")
	saved, err := s.Load(ctx)
	require.NoError(t, err)
	require.Len(t, saved.Resources, 1)
	require.NoError(t, b.Remove(ctx, ref, RemoveOptions{Force: true}))
	require.NotContains(t, f.files(), ".pulumi/stacks/dev.json")
}

func TestListingShowsCorruptStacksBesideTheOthers(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	mustEdit(t, s, snapshotOf(thing("a"), thing("b")))
	f.init(b, "organization/alpha/prod")
	f.write(".pulumi/stacks/shop/broken.json", "")
	for _, other := range []string{"dev.json.bak", "dev.json.attrs", "x.json.1.tmp", "dev.pulumi-tags", "no t.json", "sub/deep.json"} {
		f.write(".pulumi/stacks/shop/"+other, "x")
	}
	list, err := b.Stacks(ctx, Filter{Project: ""})
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, []Ref{{Project: "alpha", Name: "prod"}, {Project: "shop", Name: "broken"}, {Project: "shop", Name: "dev"}}, []Ref{list[0].Ref, list[1].Ref, list[2].Ref})
	var corrupt *CorruptError
	require.ErrorAs(t, list[1].Err, &corrupt)
	require.Equal(t, 2, list[2].Summary.Resources)
	list, err = b.Stacks(ctx, Filter{Project: "alpha"})
	require.NoError(t, err)
	require.Len(t, list, 1)
}

func TestDamageIsReportedWithTheCopiesThatAreLeft(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	mustEdit(t, s, snapshotOf(thing("a")))
	require.NoError(t, s.WriteHistory(ctx, Update{Kind: "update", Result: ResultSucceeded}))
	f.write(stackFile+".attrs", "{") // a truncated sidecar is ignored
	_, err := s.Load(ctx)
	require.NoError(t, err)
	for _, damage := range []string{"", `{"version":3,"checkpoint":{"latest":{"resources":[{"urn`, "\x1f\x8b\x08 nonsense"} {
		f.write(stackFile, damage)
		for what, try := range map[string]func() error{
			"load":   func() error { _, err := s.Load(ctx); return err },
			"export": func() error { _, err := s.Export(ctx, false); return err },
			"output": func() error { _, err := s.Outputs(ctx, true); return err },
		} {
			err := try()
			var corrupt *CorruptError
			require.ErrorAs(t, err, &corrupt, what)
			require.Len(t, corrupt.Candidates, 3, what)
			require.ErrorContains(t, err, filepath.Join(f.dir, stackFile), what)
			require.ErrorContains(t, err, "dev.json.bak", what)
			require.ErrorContains(t, err, "backups", what)
		}
	}
	require.NoError(t, os.Remove(filepath.Join(f.dir, stackFile)))
	_, err = s.Load(ctx)
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)
	require.ErrorContains(t, err, "no stack named 'dev' found")
	require.ErrorContains(t, err, "dev.json.bak")
	_, err = f.open().Open(ctx, Ref{Project: "shop", Name: "never"})
	require.EqualError(t, err, "no stack named 'never' found")
}

func TestInvalidStateIsRefusedWhereItMatters(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	bad := thing("a")
	bad.Dependencies = []urn.URN{thing("nobody").URN}
	before := f.read(stackFile)
	require.ErrorContains(t, edit(s, snapshotOf(bad)), "was not written")
	require.Equal(t, before, f.read(stackFile))
	text, err := state.NewEncoder(state.EncoderOptions{}).Checkpoint(ctx, "x", snapshotOf(rootOf(nil), bad))
	require.NoError(t, err)
	f.write(stackFile, string(text))
	_, err = s.Load(ctx)
	require.ErrorContains(t, err, "snapshot integrity failure; refusing to use it:")
	var integrity *InvalidStateError
	require.ErrorAs(t, err, &integrity)
	_, err = s.Export(ctx, false)
	require.NoError(t, err)
	_, err = s.Outputs(ctx, false)
	require.NoError(t, err)
	unchecked, err := s.LoadSealed(ctx)
	require.NoError(t, err)
	repaired, err := state.Repair(unchecked)
	require.NoError(t, err)
	mustEdit(t, s, repaired)
	b.storage.options.SkipIntegrity = true
	f.write(stackFile, string(text))
	_, err = s.Load(ctx)
	require.NoError(t, err)
}

func TestStatesWithMalformedNamesAreNotUsed(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	nameless := &state.Resource{URN: "rubbish", Type: "pkg:index:Thing", Custom: true, ID: "1"}
	for name, bad := range map[string]*state.Snapshot{
		"resource at index 1":          snapshotOf(thing("a"), nameless),
		"pending operation at index 0": {Pending: []state.Pending{{Type: state.Creating, Resource: nameless}}},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := state.NewEncoder(state.EncoderOptions{}).Checkpoint(ctx, "x", bad)
			require.NoError(t, err)
			f.write(stackFile, string(text))
			_, err = s.Load(ctx)
			require.ErrorContains(t, err, "snapshot integrity failure")
			require.ErrorContains(t, err, name)
			require.ErrorContains(t, err, `"rubbish"`)
			require.Equal(t, string(text), f.read(stackFile))
		})
	}
}

func TestRunKeepsTheStateBeforeItInTheBackup(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	before := f.read(stackFile)
	f.write(stackFile+".attrs", "{")
	base, err := s.Load(ctx)
	require.NoError(t, err)
	unlock, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	r, err := s.Record(ctx, base)
	require.NoError(t, err)
	for i := range 3 {
		op := thing(fmt.Sprint(i))
		require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: op}))
		require.NoError(t, r.End(ctx, state.Change{Begun: op, Add: op}))
	}
	require.NoError(t, r.Close(ctx))
	require.NoError(t, unlock.Close())
	require.Equal(t, before, f.read(stackFile+".bak"))
	require.Equal(t, []string{".pulumi/meta.yaml", stackFile, stackFile + ".bak"}, f.files(), "no debris, no sidecar")
	after, err := s.Load(ctx)
	require.NoError(t, err)
	require.Len(t, after.Resources, 3)
	require.Equal(t, "b64", after.SecretsProvider.Type)
}

func TestSecretsKeepTheirCiphertextAcrossRuns(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	m, err := secrets.New(ctx, secretstest.Source("p"))
	require.NoError(t, err)
	s, err := b.Init(ctx, Ref{Project: "shop", Name: "dev"}, m)
	require.NoError(t, err)
	withSecret := rootOf(map[string]property.Value{"pw": property.Secret(property.String("hunter2"))})
	mustEdit(t, s, &state.Snapshot{Resources: []*state.Resource{withSecret}, SecretsProvider: m.Provider()})
	first := f.read(stackFile)
	require.NotContains(t, first, "hunter2")

	again, err := b.Open(ctx, s.Ref()) // without a manager: by the passphrase of the backend
	require.NoError(t, err)
	snapshot, err := again.Load(ctx)
	require.NoError(t, err)
	require.Equal(t, "hunter2", snapshot.Resources[0].Outputs.At("pw").AsSecret().AsString())
	mustEdit(t, again, snapshot)
	require.Equal(t, first, f.read(stackFile))

	outputs, err := b.StackOutputs(ctx, "dev")
	require.NoError(t, err)
	require.True(t, outputs.At("pw").IsSecret())

	other := f.open()
	other.storage.options.Passphrases = secretstest.Source("wrong")
	locked, err := other.Open(ctx, s.Ref())
	require.NoError(t, err)
	_, err = locked.Load(ctx)
	require.ErrorIs(t, err, secrets.ErrLocked)
	outputs, err = other.StackOutputs(ctx, "organization/shop/dev")
	require.NoError(t, err)
	why, unavailable := outputs.At("pw").WhyUnavailable()
	require.True(t, unavailable)
	require.Contains(t, why, secrets.ErrIncorrectPassphrase.Error())
	sealed, err := locked.LoadSealed(ctx)
	require.NoError(t, err)
	sealed.Resources = append(sealed.Resources, thing("a"))
	mustEdit(t, locked, sealed)
	snapshot, err = again.Load(ctx)
	require.NoError(t, err)
	require.Equal(t, "hunter2", snapshot.Resources[0].Outputs.At("pw").AsSecret().AsString())

	rekeyed, err := secrets.New(ctx, secretstest.Source("q"))
	require.NoError(t, err)
	r := record(t, again.WithSecrets(rekeyed), snapshot)
	require.NoError(t, r.Close(ctx))
	_, err = again.Load(ctx)
	require.ErrorIs(t, err, secrets.ErrLocked)
	snapshot, err = again.WithSecrets(rekeyed).Load(ctx)
	require.NoError(t, err)
	require.Equal(t, "hunter2", snapshot.Resources[0].Outputs.At("pw").AsSecret().AsString())
}

func TestProvidersOfOthersNeverLoseCiphertexts(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	cloud := `{"version":3,"checkpoint":{"stack":"x","latest":{"manifest":{"time":"2026-01-02T03:04:05Z","magic":"","version":""},` +
		`"secrets_providers":{"type":"cloud","state":{"url":"awskms://x","encryptedkey":"AA=="}},"resources":[{"urn":"urn:pulumi:dev::shop::` +
		`pulumi:pulumi:Stack::shop-dev","custom":false,"type":"pulumi:pulumi:Stack","outputs":{"a":{"4dabf18193072939515e22adb298388d":` +
		`"1b47061264138c4ac30d75fd1eb44270","ciphertext":"v1:opaque"}}}],"metadata":{}}}}`
	f.write(stackFile, cloud)
	_, err := s.Load(ctx)
	var unsupported *secrets.UnsupportedProviderError
	require.ErrorAs(t, err, &unsupported)
	stack, err := b.Open(ctx, s.Ref())
	require.NoError(t, err)
	sealed, err := stack.LoadSealed(ctx)
	require.NoError(t, err)
	mustEdit(t, stack, sealed)
	require.Equal(t, strings.Replace(cloud, `"stack":"x"`, `"stack":"organization/shop/dev"`, 1), f.read(stackFile))
	outputs, err := stack.Outputs(ctx, true)
	require.NoError(t, err)
	require.True(t, outputs.At("a").IsSealed())
}

func TestCompressionFollowsTheEnvironment(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	for _, c := range []struct{ variable, file, other string }{
		{"PULUMI_DIY_BACKEND_GZIP", stackFile + ".gz", stackFile},
		{"PULUMI_SELF_MANAGED_STATE_ZSTD", stackFile + ".zst", stackFile + ".gz"},
		{"NONE", stackFile, stackFile + ".zst"},
	} {
		f.env = map[string]string{c.variable: "true"}
		again, err := f.open().Open(ctx, s.Ref())
		require.NoError(t, err)
		mustEdit(t, again, snapshotOf(thing(c.variable)))
		require.Contains(t, f.files(), c.file)
		require.NotContains(t, f.files(), c.other)
		require.Contains(t, f.files(), c.other+".bak")
		snapshot, err := again.Load(ctx)
		require.NoError(t, err)
		require.Equal(t, c.variable, snapshot.Resources[0].ID)
	}
	f.env = map[string]string{"PULUMI_DIY_BACKEND_GZIP": "1", "PULUMI_DIY_BACKEND_ZSTD": "TRUE"}
	_, err := openFile(context.Background(), Options{URL: "file://" + f.dir, Environment: func(n string) (string, bool) { return f.env[n], true }})
	require.ErrorContains(t, err, "both set")
}

func TestNewestVariantOfTheStackFileWins(t *testing.T) {
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	f.write(stackFile+".gz", f.read(stackFile)) // the content shows the compression
	at := time.Unix(1000, 0)
	file := filepath.Join(f.dir, stackFile)
	for _, c := range []struct {
		plain, gz time.Time
		want      string
	}{{at, at, ".gz"}, {at.Add(1), at, ""}, {at, at.Add(1), ".gz"}} {
		require.NoError(t, os.Chtimes(file, c.plain, c.plain))
		require.NoError(t, os.Chtimes(file+".gz", c.gz, c.gz))
		require.Equal(t, file+c.want, s.File(context.Background()))
	}
	_, err := s.Load(context.Background())
	require.NoError(t, err)
}

func TestRemove(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	mustEdit(t, s, snapshotOf(thing("a")))
	require.NoError(t, s.WriteHistory(ctx, Update{}))
	f.write(".pulumi/stacks/shop/dev.pulumi-tags", "{}")
	err := b.Remove(ctx, s.Ref(), RemoveOptions{})
	var full *NotEmptyError
	require.ErrorAs(t, err, &full)
	require.Equal(t, 1, full.Resources)
	require.NoError(t, b.Remove(ctx, s.Ref(), RemoveOptions{Force: true}))
	left := f.files()
	require.Len(t, left, 3, "%v", left)
	require.Contains(t, left, stackFile+".bak")
	var missing *NotFoundError
	require.ErrorAs(t, b.Remove(ctx, s.Ref(), RemoveOptions{}), &missing)

	s = f.init(b, "dev")
	mustEdit(t, s, snapshotOf(rootOf(nil)))
	require.NoError(t, b.Remove(ctx, s.Ref(), RemoveOptions{Backups: true}), "the stack alone does not count")
	require.Equal(t, []string{".pulumi/meta.yaml"}, f.files())
}

func TestSidesAreKeptBesideTheState(t *testing.T) {
	for _, kind := range Sides() {
		t.Run(string(kind), func(t *testing.T) {
			ctx := context.Background()
			f := newFixture(t)
			b := f.open()
			k := f.init(b, "dev").(SideKeeper)
			content, revision, err := k.ReadSide(ctx, kind)
			require.NoError(t, err)
			require.Nil(t, content)
			write := func(text, revision string) bool {
				replaced, err := k.WriteSide(ctx, kind, []byte(text), revision)
				require.NoError(t, err)
				return replaced
			}
			require.True(t, write("one", revision))
			require.False(t, write("two", revision), "another run has written some")
			content, revision, err = k.ReadSide(ctx, kind)
			require.NoError(t, err)
			require.Equal(t, "one", string(content))
			require.True(t, write("three", revision))

			ref := k.(Stack).Ref()
			to := ref
			to.Name = "prod"
			renamed, err := b.Rename(ctx, ref, to)
			require.NoError(t, err)
			require.NotContains(t, strings.Join(f.files(), " "), "sluice/"+string(kind), "it names resources of the old stack")
			k = renamed.(SideKeeper)
			require.True(t, write("four", ""))
			require.NoError(t, k.RemoveSide(ctx, kind))
			require.NoError(t, k.RemoveSide(ctx, kind))
			require.True(t, write("five", ""))
			require.NoError(t, b.Remove(ctx, to, RemoveOptions{}))
			require.NotContains(t, strings.Join(f.files(), " "), "sluice/"+string(kind))
		})
	}
}

// counted counts the calls of a store.
type counted struct {
	store.Store
	reads, removals int
}

func (c *counted) Read(ctx context.Context, key string) ([]byte, store.Info, error) {
	c.reads++
	return c.Store.Read(ctx, key)
}

func (c *counted) Remove(ctx context.Context, keys ...string) error {
	c.removals++
	return c.Store.Remove(ctx, keys...)
}

func TestALongHistoryCostsFewRequests(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	for n := range 20 {
		require.NoError(t, s.WriteHistory(ctx, Update{Kind: "update", Result: ResultSucceeded, Config: json.RawMessage(fmt.Sprintf(`{"shop:n":"%d"}`, n))}))
	}
	calls := &counted{Store: b.storage.store}
	b.storage.store = calls
	h := history{s.(*fileStack).files}
	_, _, err := h.version(ctx, 7)
	require.NoError(t, err)
	require.Equal(t, 1, calls.reads, "the copy of the stack file")
	calls.reads = 0

	require.NoError(t, h.recordInterrupted(ctx, &journal.Report{}))
	require.Equal(t, 1, calls.reads, "the newest record, for the configuration")
	last, err := h.last(ctx, func(Update) bool { return true })
	require.NoError(t, err)
	require.JSONEq(t, `{"shop:n":"19"}`, string(last.Config))

	require.NoError(t, h.prune(ctx, 2))
	require.Equal(t, 2, calls.removals, "of the history and of the backups")
	updates, _, err := h.list(ctx)
	require.NoError(t, err)
	require.Len(t, updates, 2)
}

// The numbers that the history shows are those that exports take.
func TestARecordThatCannotBeReadKeepsItsNumber(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	for _, id := range []string{"1", "2", "3"} {
		r := thing("a")
		r.ID = id
		mustEdit(t, s, snapshotOf(r))
		require.NoError(t, s.WriteHistory(ctx, Update{Kind: "update", Result: ResultSucceeded, Message: id}))
	}
	records, err := filepath.Glob(filepath.Join(f.dir, ".pulumi/history/shop/dev/*.history.json"))
	require.NoError(t, err)
	require.Len(t, records, 3)
	require.NoError(t, os.WriteFile(records[1], []byte("{"), 0o600))

	updates, warnings, err := s.History(ctx)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Len(t, updates, 2)
	require.Equal(t, []int{3, 1}, []int{updates[0].Number, updates[1].Number})
	for _, u := range updates {
		export, err := s.ExportVersion(ctx, u.Number, false)
		require.NoError(t, err)
		require.Contains(t, string(export), fmt.Sprintf(`"id": %q`, u.Message))
	}
	var missing *VersionError
	_, err = s.ExportVersion(ctx, 4, false)
	require.ErrorAs(t, err, &missing)
	require.Equal(t, 3, missing.Last)
}

func TestHistoryAndBackups(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	for _, kind := range []string{"update", "destroy"} {
		require.NoError(t, s.WriteHistory(ctx, Update{
			Kind: kind, Result: ResultSucceeded, StartTime: 10, EndTime: 12, Message: "<m>", Environment: map[string]string{"exec.kind": "cli"},
			Config: json.RawMessage(`{"shop:pw":{"secure":"v1:x"}}`), ResourceChanges: map[string]int{"create": 2},
		}))
	}
	f.write(".pulumi/history/shop/dev/dev-1.history.json", "{")
	updates, warnings, err := s.History(ctx)
	require.NoError(t, err)
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "dev-1.history.json")
	require.Len(t, updates, 2)
	require.Equal(t, "destroy", updates[0].Kind)
	latest, err := s.LastUpdate(ctx, func(Update) bool { return true })
	require.NoError(t, err)
	require.Equal(t, updates[0], *latest)
	require.Equal(t, map[string]int{"create": 2}, updates[0].ResourceChanges)
	require.Equal(t, int64(12), updates[0].Ended().Unix())
	last, err := s.LastUpdate(ctx, func(u Update) bool { return u.Kind == "update" })
	require.NoError(t, err)
	require.Equal(t, &updates[1], last)
	last, err = s.LastUpdate(ctx, func(u Update) bool { return u.Kind == "refresh" })
	require.NoError(t, err)
	require.Nil(t, last)
	var checkpoints, backups int
	for _, name := range f.files() {
		switch {
		case strings.HasSuffix(name, ".checkpoint.json"):
			checkpoints++
			require.Equal(t, f.read(stackFile), f.read(name))
		case strings.HasPrefix(name, ".pulumi/backups/shop/dev/dev."):
			backups++
			require.Equal(t, f.read(stackFile), f.read(name))
		}
	}
	require.Equal(t, 2, checkpoints)
	require.Equal(t, 2, backups)
	f.env["PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS"] = "1"
	require.NoError(t, s.WriteHistory(ctx, Update{}))
	entries, err := os.ReadDir(filepath.Join(f.dir, ".pulumi/backups/shop/dev"))
	require.NoError(t, err)
	require.Len(t, entries, 2)
	before, err := s.LastUpdate(ctx, func(Update) bool { return true })
	require.NoError(t, err)
	f.write(".pulumi/history/shop/dev/dev-9000000000000000000.history.json", "{")
	latest, err = s.LastUpdate(ctx, func(Update) bool { return true })
	require.NoError(t, err)
	require.Equal(t, before, latest, "what cannot be read is passed over")
}

func TestExportAndImport(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	full := snapshotOf(rootOf(map[string]property.Value{"pw": property.Secret(property.String("x")), "n": property.Number(1)}), thing("a"))
	full.Pending = []state.Pending{{Type: state.Creating, Resource: thing("p")}}
	full.SecretsProvider = secrets.Plain{}.Provider()
	mustEdit(t, s, full)
	stored, err := s.Export(ctx, false)
	require.NoError(t, err)
	require.Contains(t, string(stored), "\n    \"deployment\": {\n        \"manifest\"")
	require.Contains(t, string(stored), `"ciphertext": "Ingi"`)
	shown, err := s.Export(ctx, true)
	require.NoError(t, err)
	require.Contains(t, string(shown), `"plaintext": "\"x\""`)

	before := f.read(stackFile)
	for _, export := range [][]byte{stored, shown} {
		warnings, err := s.Import(ctx, export, false)
		require.NoError(t, err)
		require.Equal(t, []string{"removing pending operation 'creating' on '" + string(thing("p").URN) + "'"}, warnings)
		after := f.read(stackFile)
		require.NotContains(t, after, "pending_operations")
		i := strings.Index(before, `,"pending_operations"`)
		require.Equal(t, before[:i], after[:i], "everything else is as it was, ciphertexts included")
		require.NotContains(t, after, "plaintext")
	}
	other := f.init(b, "prod")
	_, err = other.Import(ctx, stored, false)
	require.ErrorContains(t, err, "refers to a different stack name (dev)")
	require.ErrorContains(t, err, "importing this file could be dangerous")
	require.Equal(t, []advice.Advice{advice.On(advice.ImportAnyway)}, advice.Of(err))
	warnings, err := other.Import(ctx, stored, true)
	require.NoError(t, err)
	require.Len(t, warnings, 3)
	_, err = other.Import(ctx, []byte(`{"version":3}`), true)
	require.ErrorContains(t, err, "stack export")

	unlock, err := s.Lock(ctx, LockOptions{})
	require.NoError(t, err)
	_, err = s.Import(ctx, stored, false)
	var held *lock.HeldError
	require.ErrorAs(t, err, &held)
	require.Contains(t, held.Locks[0].URL, "file://")
	n, err := s.BreakLocks(ctx, held.Locks)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.NoError(t, unlock.Close())
}

func TestStackReferences(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	outputs, err := b.StackOutputs(ctx, "dev")
	require.NoError(t, err)
	require.Zero(t, outputs.Len())
	a := thing("a")
	a.Outputs = property.NewMap(map[string]property.Value{"k": property.Bool(true)})
	gone := thing("gone")
	gone.Delete = true
	mustEdit(t, s, snapshotOf(rootOf(map[string]property.Value{"n": property.Number(1)}), a, gone))
	outputs, err = b.StackOutputs(ctx, "organization/shop/dev")
	require.NoError(t, err)
	require.Equal(t, 1.0, outputs.At("n").AsNumber())
	resources, err := b.StackResources(ctx, "dev")
	require.NoError(t, err)
	require.Len(t, resources, 2)
	require.Equal(t, a.URN, resources[1].URN)
	require.True(t, resources[1].Outputs.At("k").AsBool())
	_, err = b.StackOutputs(ctx, "nope")
	require.ErrorContains(t, err, `unknown stack "nope"`)
}

// TestKillDuringAWriteLeavesTheOldOrTheNewState stops the write of a state at each moment of it.
func TestKillDuringAWriteLeavesTheOldOrTheNewState(t *testing.T) {
	ctx := context.Background()
	for _, m := range []store.Moment{store.Created, store.Written, store.Synced, store.Renamed, store.Durable} {
		t.Run(string(m), func(t *testing.T) {
			f := newFixture(t)
			b := f.open()
			s := f.init(b, "dev")
			mustEdit(t, s, snapshotOf(thing("before")))
			l, err := s.Lock(ctx, LockOptions{})
			require.NoError(t, err)
			dir := b.storage.store.(*store.Dir)
			dir.Crash = func(at store.Moment) error {
				if at == m {
					return store.ErrKilled
				}
				return nil
			}
			require.ErrorIs(t, s.Save(ctx, editOf(mustLoad(t, s), snapshotOf(thing("after")))), store.ErrKilled)
			dir.Crash = nil
			require.NoError(t, l.Close())
			b = f.open()
			again, err := b.Open(ctx, s.Ref())
			require.NoError(t, err)
			snapshot, err := again.Load(ctx)
			require.NoError(t, err)
			want := "before"
			if m == store.Renamed || m == store.Durable {
				want = "after"
			}
			require.Equal(t, want, snapshot.Resources[0].ID)
			list, err := b.Stacks(ctx, Filter{Project: "shop"})
			require.NoError(t, err)
			require.Len(t, list, 1, "debris is not a stack")
			mustEdit(t, again, snapshotOf(thing("later")))
		})
	}
}

func TestFailedWriteLeavesNoDebris(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	b := f.open()
	s := f.init(b, "dev")
	before := f.read(stackFile)
	full := errors.New("disk full")
	b.storage.store.(*store.Dir).Crash = func(at store.Moment) error {
		if at == store.Written {
			return full
		}
		return nil
	}
	r := record(t, s, mustLoad(t, s))
	require.ErrorIs(t, r.End(ctx, state.Change{Add: thing("a")}), full)
	require.ErrorIs(t, r.Close(ctx), full)
	require.Equal(t, before, f.read(stackFile))
	for _, name := range f.files() {
		require.NotContains(t, name, ".tmp")
	}
}

func TestRejectedStateIsSetAside(t *testing.T) {
	ctx := context.Background()
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	before := f.read(stackFile)
	base, err := s.Load(ctx)
	require.NoError(t, err)
	base.Resources = []*state.Resource{thing("a")}
	r := record(t, s, base)
	require.NoError(t, r.End(ctx, state.Change{Add: thing("a")}))
	err = r.Close(ctx)
	require.ErrorContains(t, err, ".pulumi/sluice/rejected/shop/dev.")
	require.Equal(t, before, f.read(stackFile))
}

// Taking the lock removes the remains that a killed process has left: unfinished writes of the stack file, its history and its
// backups, and a journal that was being made or removed.
func TestWhatIsLeftOfUnfinishedWritesIsRemovedWithTheLock(t *testing.T) {
	f := newFixture(t)
	s := f.init(f.open(), "dev")
	f.init(f.open(), "other")
	stay := append(f.files(), ".pulumi/stacks/shop/other.json.1.tmp") // it is removed with the lock of that stack
	for _, name := range []string{
		".pulumi/sluice/journal/shop/dev.jnl.base", stackFile + ".1.tmp", stackFile + ".bak.1.tmp", ".pulumi/history/shop/dev/dev-1.history.json.1.tmp", ".pulumi/backups/shop/dev/dev.1.json.1.tmp",
	} {
		f.write(name, "{")
	}
	f.write(stay[len(stay)-1], "{")
	lock, err := s.Lock(context.Background(), LockOptions{})
	require.NoError(t, err)
	require.NoError(t, lock.Close())
	require.ElementsMatch(t, stay, f.files())
}
