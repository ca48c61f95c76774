package providertest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/urn"
	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

const thing urn.Type = "simple:index:Thing"

func named(name string) urn.URN { return urn.New("dev", "p", "", thing, name) }

func object(pairs ...string) property.Map {
	m := map[string]property.Value{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = property.String(pairs[i+1])
	}
	return property.NewMap(m)
}

func tables(t *testing.T) map[string]providertest.Table {
	d, err := providertest.OpenDirectory(t.TempDir())
	require.NoError(t, err)
	return map[string]providertest.Table{"memory": providertest.NewMemory(), "directory": d}
}

func TestResourceLivesInTheTable(t *testing.T) {
	for name, table := range tables(t) {
		t.Run(name, func(t *testing.T) {
			ctx, u := t.Context(), named("we/b ü")
			cloud := providertest.NewCloud(providertest.Options{Table: table})
			p := cloud.Provider("simple")
			in := object("a", "1").With("s", property.Secret(property.String("x")))
			made, err := p.Create(ctx, providers.CreateRequest{URN: u, Type: thing, Properties: in})
			require.NoError(t, err)
			require.Equal(t, providertest.ID(u, 1), made.ID)
			require.Equal(t, "arn:"+made.ID, made.Properties.At("arn").AsString())

			records, err := cloud.Records()
			require.NoError(t, err)
			require.Len(t, records, 1)
			require.Equal(t, thing, records[0].Type)
			require.True(t, property.IdenticalMaps(in, records[0].Inputs))

			require.NoError(t, cloud.Put(providertest.Record{ID: made.ID, URN: u, Type: thing, Inputs: object("a", "drift")}))
			read, err := p.Read(ctx, providers.ReadRequest{URN: u, ID: made.ID})
			require.NoError(t, err)
			require.Equal(t, "drift", read.Inputs.At("a").AsString())

			require.NoError(t, p.Delete(ctx, providers.DeleteRequest{URN: u, ID: made.ID}))
			require.NoError(t, p.Delete(ctx, providers.DeleteRequest{URN: u, ID: made.ID}), "a delete may be repeated")
			read, err = p.Read(ctx, providers.ReadRequest{URN: u, ID: made.ID})
			require.NoError(t, err)
			require.True(t, read.Absent)
			_, err = p.Update(ctx, providers.UpdateRequest{URN: u, ID: made.ID})
			require.ErrorContains(t, err, made.ID)

			again, err := p.Create(ctx, providers.CreateRequest{URN: u, Type: thing})
			require.NoError(t, err)
			require.Equal(t, providertest.ID(u, 2), again.ID, "IDs are never used twice")
		})
	}
}

func TestPreviewChangesNothing(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	p := cloud.Provider("simple")
	made, err := p.Create(t.Context(), providers.CreateRequest{URN: named("a"), Preview: true})
	require.NoError(t, err)
	require.Empty(t, made.ID)
	require.True(t, made.Properties.At("arn").IsUnknown())
	updated, err := p.Update(t.Context(), providers.UpdateRequest{URN: named("a"), ID: "x", Preview: true})
	require.NoError(t, err)
	require.Equal(t, "arn:x", updated.Properties.At("arn").AsString(), "an update keeps the ID and so the ARN")
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Empty(t, records)
}

func TestNamesSayWhatAChangeMeans(t *testing.T) {
	cases := map[string]struct {
		old, now property.Map
		ignore   []string
		want     providers.DiffResponse
	}{
		"nothing": {old: object("a", "1"), now: object("a", "1"), want: providers.DiffResponse{Changes: providers.DiffNone}},
		"update, add and delete": {
			old: object("a", "1", "c", "1"), now: object("a", "2", "b", "1"),
			want: providers.DiffResponse{
				Changes: providers.DiffSome, ChangedKeys: []string{"a", "b", "c"},
				DetailedDiff: map[string]providers.PropertyDiff{
					"a": {Kind: providers.DiffUpdate, InputDiff: true}, "b": {Kind: providers.DiffAdd, InputDiff: true},
					"c": {Kind: providers.DiffDelete, InputDiff: true},
				},
			},
		},
		"immutable": {
			old: object("immutableA", "1"), now: object("immutableA", "2"),
			want: providers.DiffResponse{
				Changes: providers.DiffSome, ChangedKeys: []string{"immutableA"}, ReplaceKeys: []string{"immutableA"},
				DetailedDiff: map[string]providers.PropertyDiff{"immutableA": {Kind: providers.DiffUpdateReplace, InputDiff: true}},
			},
		},
		"delete before replace": {
			old: object("dbrName", "1"), now: object(),
			want: providers.DiffResponse{
				Changes: providers.DiffSome, ChangedKeys: []string{"dbrName"}, ReplaceKeys: []string{"dbrName"}, DeleteBeforeReplace: true,
				DetailedDiff: map[string]providers.PropertyDiff{"dbrName": {Kind: providers.DiffDeleteReplace, InputDiff: true}},
			},
		},
		"ignored": {
			old: object("a", "1"), now: object("a", "2"), ignore: []string{"a"},
			want: providers.DiffResponse{Changes: providers.DiffNone},
		},
		"unknown": {
			old: object().With("a", property.Computed()), now: object().With("a", property.Computed()),
			want: providers.DiffResponse{
				Changes: providers.DiffSome, ChangedKeys: []string{"a"},
				DetailedDiff: map[string]providers.PropertyDiff{"a": {Kind: providers.DiffUpdate, InputDiff: true}},
			},
		},
		"secretness": {
			old: object("a", "1"), now: object().With("a", property.Secret(property.String("1"))),
			want: providers.DiffResponse{Changes: providers.DiffNone},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, providertest.Compare(c.old, c.now, c.ignore))
		})
	}
}

func TestFailuresHappenWhereTheyAreAskedFor(t *testing.T) {
	boom := errors.New("boom")
	cloud := providertest.NewCloud(providertest.Options{Failures: []providertest.Failure{
		{Method: providers.MethodCreate, Name: "a", Nth: 2, Err: boom},
		{Method: providers.MethodCreate, URN: named("b"), Applied: true},
		{Method: providers.MethodCreate, Name: "c", Update: true},
	}})
	p := cloud.Provider("simple")
	create := func(name string, preview bool) error {
		_, err := p.Create(t.Context(), providers.CreateRequest{URN: named(name), Preview: preview})
		return err
	}
	require.NoError(t, create("a", false))
	require.ErrorIs(t, create("a", false), boom)
	require.NoError(t, create("a", false))
	require.EqualError(t, create("b", false), "the cloud refused to create b")
	require.NoError(t, create("c", true))
	require.Error(t, create("c", false))
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Len(t, records, 3, "two of a, and the one of b that nobody was told about")
	require.Equal(t, 6, cloud.Count(providers.MethodCreate))
}

func TestUnhealthyResourceExists(t *testing.T) {
	cloud := providertest.NewCloud(providertest.Options{})
	p := cloud.Provider("simple")
	in := object().With("unhealthy", property.Bool(true))
	_, err := p.Create(t.Context(), providers.CreateRequest{URN: named("a"), Properties: in})
	var unhealthy *providers.InitError
	require.ErrorAs(t, err, &unhealthy)
	_, err = p.Update(t.Context(), providers.UpdateRequest{URN: named("a"), ID: unhealthy.ID})
	require.NoError(t, err)
}

func TestInvalidPropertiesAreRefused(t *testing.T) {
	p := providertest.NewCloud(providertest.Options{}).Provider("simple")
	answer, err := p.Check(t.Context(), providers.CheckRequest{News: object("invalidB", "", "a", "", "invalidA", "")})
	require.NoError(t, err)
	require.Len(t, answer.Failures, 2)
	require.Equal(t, "invalidA", answer.Failures[0].Property)
}

func TestLatencyDependsOnTheCallAndNotOnItsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		measure := func(seed uint64, order []int) map[string]time.Duration {
			p := providertest.NewCloud(providertest.Options{Seed: seed, MaxLatency: time.Hour}).Provider("simple")
			took := map[string]time.Duration{}
			for _, n := range order {
				before := time.Now()
				_, err := p.Check(t.Context(), providers.CheckRequest{URN: named(fmt.Sprint(n))})
				require.NoError(t, err)
				took[fmt.Sprint(n)] = time.Since(before)
			}
			return took
		}
		forward := measure(1, []int{1, 2, 3, 4})
		require.Equal(t, forward, measure(1, []int{4, 2, 3, 1}))
		require.NotEqual(t, forward, measure(2, []int{1, 2, 3, 4}))
	})
}

func TestHangingCallEndsWithCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := providertest.NewCloud(providertest.Options{Failures: []providertest.Failure{{Method: providers.MethodRead, Hang: true}}})
		p := cloud.Provider("simple")
		var wg conc.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := p.Read(t.Context(), providers.ReadRequest{URN: named("a")})
				require.Error(t, err)
			})
		}
		synctest.Wait()
		require.Equal(t, 3, cloud.Peak(providers.MethodRead))
		require.NoError(t, p.Cancel(t.Context()))
		wg.Wait()
	})
}

func TestCallThatIsCutOffDoesNothing(t *testing.T) {
	boom := errors.New("boom")
	cloud := providertest.NewCloud(providertest.Options{
		Cut: func(c providertest.Call) error {
			if c.Method == providers.MethodCreate && c.Nth == 1 {
				return boom
			}
			return nil
		},
		Failures: []providertest.Failure{{Method: providers.MethodCreate, Applied: true}},
	})
	p := cloud.Provider("simple")
	_, err := p.Create(t.Context(), providers.CreateRequest{URN: named("a")})
	require.ErrorIs(t, err, boom)
	records, err := cloud.Records()
	require.NoError(t, err)
	require.Empty(t, records)
}

func TestNamesAreIDsAndUnique(t *testing.T) {
	p := providertest.NewCloud(providertest.Options{Naming: "name"}).Provider("simple")
	in := object("name", "x")
	made, err := p.Create(t.Context(), providers.CreateRequest{URN: named("a"), Properties: in})
	require.NoError(t, err)
	require.Equal(t, "x", made.ID)
	_, err = p.Create(t.Context(), providers.CreateRequest{URN: named("b"), Properties: in})
	require.EqualError(t, err, `the cloud has a resource "x" already`)
	made, err = p.Create(t.Context(), providers.CreateRequest{URN: named("b")})
	require.NoError(t, err)
	require.Equal(t, providertest.ID(named("b"), 1), made.ID)
}
