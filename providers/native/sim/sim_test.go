package sim_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/native/sim"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func of(pairs ...any) property.Value { return property.Of(props(pairs...)) }

// stack returns one resource of a simulation with this configuration.
func stack(t *testing.T, cloud *sim.Cloud, config property.Map) *nativetest.Stack {
	s := nativetest.New(t, sim.In(cloud, native.Options{}), sim.Type, native.Options{})
	require.NoError(t, configure(t, s, config))
	return s
}

func configure(t *testing.T, s *nativetest.Stack, config property.Map) error {
	return s.P.Configure(t.Context(), providers.ConfigureRequest{Inputs: config})
}

func TestCloudInADirectoryCanBeSeenAndChanged(t *testing.T) {
	dir := t.TempDir()
	s := stack(t, nil, props("directory", dir))
	in := props("id", "one", "properties", of("size", 1), "computed", []string{"address"})
	out := s.Create(in)
	require.Equal(t, "one", s.ID)
	require.Equal(t, "address-one-1", out.At("values").AsMap().At("address").AsString())
	s.RequireSame(in)
	s.RequireUnchanged()

	path := filepath.Join(dir, "one.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"size": 1`, `"size": 5`)), 0o644))
	require.True(t, s.Refresh())
	require.Equal(t, 5.0, s.Outputs.At("properties").AsMap().At("size").AsNumber())
	require.Equal(t, providers.DiffSome, s.Diff(in).Changes)
	s.Update(in)
	require.Equal(t, 2.0, s.Outputs.At("generation").AsNumber())

	other := stack(t, nil, props("directory", dir))
	other.Import("one")
	other.RequireSame(props("properties", of("size", 1), "computed", []string{"address"}))
	require.NoError(t, os.Remove(path))
	require.False(t, s.Refresh())
	require.NoError(t, s.Delete())
	require.ErrorContains(t, s.TryCreate(in.With("id", property.String("../x"))), "names a file")
}

// The object of an interrupted create is adopted by its ID alone.
func TestProcessesMayShareACloud(t *testing.T) {
	dir := t.TempDir()
	var all conc.WaitGroup
	for range 4 {
		cloud, err := sim.OpenCloud(dir)
		require.NoError(t, err)
		all.Go(func() {
			for i := range 50 {
				assert.NoError(t, cloud.Put(t.Context(), sim.Record{ID: "web", Generation: i}))
				_, found, err := cloud.Get(t.Context(), "web")
				assert.NoError(t, err)
				assert.True(t, found)
			}
		})
	}
	all.Wait()
}

func TestAnAdoptedResourceIsWhatItsProgramDeclares(t *testing.T) {
	dir := t.TempDir()
	in := props("id", "one", "properties", of("size", 1), "computed", []string{"address"})
	made := stack(t, nil, props("directory", dir))
	made.Create(in)
	adopted := stack(t, nil, props("directory", dir))
	adopted.Import("one")
	require.Equal(t, made.Outputs.At("values"), adopted.Outputs.At("values"))
	adopted.RequireSame(in)
	adopted.RequireReplace(in.With("id", property.String("two")), "id")
}

func TestCloudInMemoryIsInspectedByItsOwner(t *testing.T) {
	cloud := sim.NewCloud()
	s := stack(t, cloud, props())
	s.Create(props("properties", of("a", "b")))
	ids, err := cloud.IDs()
	require.NoError(t, err)
	require.Equal(t, []string{s.ID}, ids)
	require.NoError(t, cloud.Delete(s.ID))
	require.False(t, s.Refresh())

	// Another process has another memory: the provider relies on the state.
	later := stack(t, nil, props())
	later.ID, later.Inputs, later.Outputs = s.ID, s.Inputs, s.Outputs
	later.RequireUnchanged()
	require.Equal(t, 2.0, later.Update(props("properties", of("a", "c"))).At("generation").AsNumber())
	require.NoError(t, later.Delete())
	require.False(t, later.Refresh())
}

func TestListedPropertiesReplace(t *testing.T) {
	s := stack(t, nil, props("replaceOn", []string{"zone"}, "deleteBeforeReplace", true))
	s.Create(props("properties", of("zone", "a", "size", 1, "kind", "x"), "replaceOn", []string{"kind"}))
	now := func(zone, kind string, size int) property.Map {
		return props("properties", of("zone", zone, "size", size, "kind", kind), "replaceOn", []string{"kind"})
	}
	require.False(t, s.Diff(now("a", "x", 2)).Replaces())
	s.RequireReplace(now("b", "x", 1), "properties")
	s.RequireReplace(now("a", "y", 1), "properties")
	require.True(t, s.Diff(now("b", "x", 1)).DeleteBeforeReplace)
	require.False(t, s.Diff(now("a", "x", 2)).DeleteBeforeReplace)
}

// A delete-before-replace probes dependents whose properties are not known yet.
func TestUnknownPropertiesMayChangeThoseThatReplace(t *testing.T) {
	s := stack(t, nil, props("replaceOn", []string{"zone"}))
	unknown := property.NewMap(map[string]property.Value{"properties": property.Computed()})
	s.Create(props("properties", of("zone", "a")))
	require.True(t, s.Diff(unknown).Replaces())
	s.Create(props("properties", of("size", 1)))
	require.False(t, s.Diff(unknown).Replaces(), "there is no zone that could change")
}

func TestComputedValuesAreUnknownInPreviews(t *testing.T) {
	s := stack(t, nil, props())
	in := props("computed", []string{"x"}, "properties", of("n", 1))
	require.True(t, s.Preview(in).At("values").IsUnknown())
	s.Create(in)
	require.True(t, s.PreviewUpdate(in.With("properties", of("n", 2))).At("values").IsUnknown())
}

func TestFailuresComeAtTheirRateAndDoNotDependOnOrder(t *testing.T) {
	config := props("failureRate", of("create", 0.5), "seed", "s")
	run := func() string {
		s, out := stack(t, nil, config), ""
		for range 200 {
			if s.TryCreate(props()) != nil {
				out += "f"
			} else {
				out += "."
			}
		}
		return out
	}
	first := run()
	require.Equal(t, first, run())
	require.InDelta(t, 100, strings.Count(first, "f"), 40)

	s := stack(t, nil, props())
	require.ErrorContains(t, s.TryCreate(props("fail", []string{"create"})), "the resource asks for it")
	s = stack(t, nil, props("failureRate", of("*", 1), "latency", of()))
	_, err := s.P.Check(t.Context(), providers.CheckRequest{URN: s.URN(), Type: sim.Type})
	require.ErrorContains(t, err, "simulated failure of check")
}

func TestCallsTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stack(t, nil, props("latency", of("create", "2s", "*", "uniform 1s 3s")))
		start := time.Now()
		_, err := s.P.Create(t.Context(), providers.CreateRequest{URN: s.URN(), Type: sim.Type, Preview: true})
		require.NoError(t, err)
		_, err = s.P.Update(t.Context(), providers.UpdateRequest{URN: s.URN(), Type: sim.Type, Preview: true})
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "a preview makes nothing in the cloud")
		_, err = s.P.Create(t.Context(), providers.CreateRequest{URN: s.URN(), Type: sim.Type})
		require.NoError(t, err)
		require.Equal(t, 2*time.Second, time.Since(start))
		start = time.Now()
		s.Check(props())
		require.GreaterOrEqual(t, time.Since(start), time.Second)
		require.LessOrEqual(t, time.Since(start), 3*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.P.Create(ctx, providers.CreateRequest{URN: s.URN(), Type: sim.Type})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestTooManyCallsWaitOrFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stack(t, nil, props("callsPerSecond", 10))
		start := time.Now()
		for range 11 {
			s.Check(props())
		}
		require.Equal(t, time.Second, time.Since(start))

		s = stack(t, nil, props("callsPerSecond", 1, "throttling", "fail"))
		s.Check(props())
		_, err := s.P.Check(t.Context(), providers.CheckRequest{URN: s.URN(), Type: sim.Type})
		require.EqualError(t, err, "throttled: try again in 1s")
	})
}

func TestDriftIsFoundByReads(t *testing.T) {
	s := stack(t, nil, props("driftRate", 1))
	in := props("properties", of("a", 1))
	s.Create(in)
	require.True(t, s.Refresh())
	require.True(t, s.Outputs.At("properties").AsMap().At("drifted").IsNumber())
	require.Equal(t, providers.DiffSome, s.Diff(in).Changes)
}

func TestLatencyIsParsed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for text, most := range map[string]time.Duration{
		"50ms": 50 * time.Millisecond, "uniform 1ms 2ms": 2 * time.Millisecond, "normal 1s 0s": time.Second,
		"exponential 0s": 0,
	} {
		d, err := sim.ParseDistribution(text)
		require.NoError(t, err)
		for range 100 {
			got := d.Draw(r)
			require.GreaterOrEqual(t, got, time.Duration(0))
			require.LessOrEqual(t, got, most)
		}
	}
	for _, text := range []string{"", "fast", "uniform 1ms", "normal 1s x", "-1s"} {
		_, err := sim.ParseDistribution(text)
		require.Error(t, err, text)
	}
	s := nativetest.New(t, sim.Package(native.Options{}), sim.Type, native.Options{})
	require.Error(t, configure(t, s, props("latency", of("create", "soon"))))
}
