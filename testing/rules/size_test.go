package rules

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/stages/autonaming"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// wide returns a program with n independent things in one component.
func wide(n, value int) func(context.Context, stages.Monitor) error {
	return func(ctx context.Context, m stages.Monitor) error {
		s := &script{ctx: ctx, m: m}
		g := s.group("g")
		if s.err != nil {
			return s.err
		}
		return together(n, func(i int) error {
			_, err := m.Register(ctx, registration("test:index:Thing", fmt.Sprint("r", i), in{"x": value}, parent(g)))
			return err
		})
	}
}

// allocations returns how many bytes f allocates. A function that visits everything for each resource allocates a list of
// visited resources each time, which increases the number.
func allocations(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// requireLinear fails if ten times the input needs far more than ten times the memory.
func requireLinear(t *testing.T, small, large uint64) {
	t.Helper()
	require.Less(t, float64(large)/float64(small), 20.0, "%d bytes for a tenth, %d for the whole", small, large)
}

func TestTenThousandResourcesCostTenTimesAThousand(t *testing.T) {
	costs := func(n int) (create, same, update, destroy uint64) {
		k := newKit(t)
		create = allocations(func() { require.Equal(t, n+1, k.up(wide(n, 1)).Changes[stages.OpCreate]) })
		same = allocations(func() { require.Equal(t, n+1, k.up(wide(n, 1)).Changes[stages.OpSame]) })
		update = allocations(func() { require.Equal(t, n, k.up(wide(n, 2)).Changes[stages.OpUpdate]) })
		destroy = allocations(func() { require.Equal(t, n+1, k.destroy().Changes[stages.OpDelete]) })
		require.Equal(t, 3*n, k.cloud.Count(providers.MethodCheck))
		require.Equal(t, 2*n, k.cloud.Count(providers.MethodDiff))
		return create, same, update, destroy
	}
	costs(10)
	smallCreate, smallSame, smallUpdate, smallDestroy := costs(1000)
	largeCreate, largeSame, largeUpdate, largeDestroy := costs(10_000)
	requireLinear(t, smallCreate, largeCreate)
	requireLinear(t, smallSame, largeSame)
	requireLinear(t, smallUpdate, largeUpdate)
	requireLinear(t, smallDestroy, largeDestroy)
}

func TestChainOfTwoThousandIsReplacedFromItsRoot(t *testing.T) {
	costs := func(n int) (create, replace, destroy uint64) {
		k := newKit(t)
		create = allocations(func() { k.up(chain(n, "dbr", 1)) })
		replace = allocations(func() { require.Equal(t, n, k.up(chain(n, "dbr", 2)).Changes[stages.OpReplace]) })
		require.Equal(t, n, k.cloud.Count(providers.MethodDelete))
		require.Equal(t, n, k.cloud.Count(providers.MethodDiff), "the root is compared and every other is asked about once")
		destroy = allocations(func() { require.Equal(t, n, k.destroy().Changes[stages.OpDelete]) })
		return create, replace, destroy
	}
	costs(10)
	smallCreate, smallReplace, smallDestroy := costs(200)
	largeCreate, largeReplace, largeDestroy := costs(2000)
	requireLinear(t, smallCreate, largeCreate)
	requireLinear(t, smallReplace, largeReplace)
	requireLinear(t, smallDestroy, largeDestroy)
}

// A resource that the program no longer declares stays in the state until the end phase. That must not make each
// registration visit all of its dependencies again.
func TestLongChainBelowWhatNobodyRegistersCostsWhatItsLengthCosts(t *testing.T) {
	long := func(n int, first func(s *script) *stages.RegisterReply, with ...option) source.Func {
		return program(func(s *script) {
			before := first(s)
			for i := 1; i < n; i++ {
				before = s.thing(fmt.Sprint("r", i), in{"x": 1}, append([]option{dependsOn(before)}, with...)...)
			}
		})
	}
	tests := map[string]struct {
		before, after func(n int) source.Func
	}{
		"a dependency left the program": {
			before: func(n int) source.Func {
				return long(n, func(s *script) *stages.RegisterReply { return s.thing("r0", nil) })
			},
			after: func(n int) source.Func {
				return long(n, func(s *script) *stages.RegisterReply { return s.thing("other", nil) })
			},
		},
		"the provider has a new version": {
			before: func(n int) source.Func {
				return long(n, func(s *script) *stages.RegisterReply { return s.thing("r0", nil, version("1.0.0")) }, version("1.0.0"))
			},
			after: func(n int) source.Func {
				return long(n, func(s *script) *stages.RegisterReply { return s.thing("r0", nil, version("2.0.0")) }, version("2.0.0"))
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) uint64 {
				k := newKit(t)
				k.up(test.before(n))
				return allocations(func() { k.up(test.after(n)) })
			}
			cost(10)
			requireLinear(t, cost(300), cost(3000))
		})
	}
	t.Run("an old copy is still there", func(t *testing.T) {
		cost := func(n int) uint64 {
			k := newKit(t, providertest.Failure{Method: providers.MethodDelete, Name: "r0", Nth: 1})
			p := func(v int) source.Func {
				return long(n, func(s *script) *stages.RegisterReply { return s.thing("r0", in{"immutable": v}) })
			}
			k.up(p(1))
			k.fails(p(2), "refused to delete r0")
			return allocations(func() { k.up(p(2)) })
		}
		cost(10)
		requireLinear(t, cost(300), cost(3000))
	})
}

func TestDeepTreeOfComponents(t *testing.T) {
	k := newKit(t)
	k.up(program(func(s *script) {
		p := s.group("g0")
		for i := range 300 {
			p = s.group(fmt.Sprint("g", i+1), parent(p))
		}
		s.thing("leaf", nil, parent(p))
	}))
	k.destroy().requireCounts(map[stages.Op]int{stages.OpDelete: 302})
}

func TestLargePropertiesPass(t *testing.T) {
	k := newKit(t)
	big := strings.Repeat("x", 5<<20)
	var reply *stages.RegisterReply
	p := program(func(s *script) { reply = s.thing("a", in{"big": big, "secret": secret(big)}) })
	k.up(p)
	require.Len(t, reply.Outputs.At("big").AsString(), 5<<20)
	k.up(p).requireCounts(map[stages.Op]int{stages.OpSame: 1})

	// A message about it is short.
	k.fails(program(one(in{"invalid": big})), "never valid")
	r := k.fails(program(one(in{"invalid": big})), "never valid")
	for _, d := range r.diagnostics(stages.Error) {
		require.Less(t, len(d.Message), 1000)
	}
}

func TestNamesMayHoldAnything(t *testing.T) {
	names := []string{
		"with space", "a::b", "a$b", "a/b", "ünïcödé", "日本", "quote\"'`", "new\nline", "tab\t", "-", ".", "%s", "a=b&c", "🪣", strings.Repeat("long", 200), "",
	}
	k := newKit(t)
	p := program(func(s *script) {
		g := s.group("g::h$i")
		var before *stages.RegisterReply
		for _, n := range names {
			with := []option{parent(g)}
			if before != nil {
				with = append(with, from("of", before))
			}
			before = s.thing(n, in{"x": 1}, with...)
		}
	})
	k.up(p)
	for _, n := range names {
		found := k.all(n)
		require.Len(t, found, 1, "%q", n)
		require.Equal(t, urn.New("dev", "p", "test:index:Group", "test:index:Thing", n), found[0].URN)
	}
	k.up(p).requireCounts(map[stages.Op]int{stages.OpSame: len(names) + 1})

	text, err := state.NewEncoder(state.EncoderOptions{}).Checkpoint(t.Context(), "organization/p/dev", k.state.Snapshot())
	require.NoError(t, err)
	require.Contains(t, string(text), "日本")
	k.destroy()
}

func TestPropertyNamesMayHoldAnything(t *testing.T) {
	k := newKit(t)
	inputs := in{"a.b": 1, "a[0]": 1, "": 1, "with space": in{"x\"y": 1}, "日本": 1, "__defaults": []any{}}
	p := program(one(inputs))
	k.up(p)
	k.up(p).requireCounts(map[stages.Op]int{stages.OpSame: 1})
	inputs["a.b"] = 2
	r := k.up(p)
	require.Equal(t, []string{"a.b"}, r.step(stages.OpUpdate, "a").Diffs)
}

func TestEmptyProgram(t *testing.T) {
	k := newKit(t)
	r := k.up(nothing)
	require.Empty(t, r.Steps())
	require.False(t, r.HasChanges())
	require.Empty(t, k.state.Snapshot().Resources)
	require.Equal(t, stages.Succeeded, r.summary().Result)
	k.destroy()
	k.preview(nothing)
	require.Empty(t, k.cloud.Loads())
}

func TestOperationWithoutAProgram(t *testing.T) {
	_, err := sluice.Update(t.Context(), sluice.Options{Stack: "dev", Project: "p"})
	require.ErrorContains(t, err, "no program")
}

func TestProviderIsReplacedDeletingFirstWhereNamesHaveNothingRandom(t *testing.T) {
	k := newKit(t)
	k.options.Config = sluice.Config{autonaming.Key: {Text: `{"mode": "verbatim"}`}}
	p := func(region int) func(s *script) {
		return func(s *script) {
			_, ref := s.provider("prov", in{"immutableRegion": region})
			s.thing("a", nil, via(ref))
		}
	}
	k.up(program(p(1)))
	r := k.up(program(p(2)))
	require.Equal(t, []string{
		"delete-replaced a", "delete-replaced prov", "replace prov", "create-replacement prov", "replace a", "create-replacement a",
	}, r.steps())
	for _, c := range asked[providers.CheckRequest](r, "prov") {
		require.Nil(t, c.Autonaming)
	}
}

func TestNameWithoutRandomnessIsReplacedDeletingFirst(t *testing.T) {
	names := func(pattern string) sluice.Config {
		return sluice.Config{autonaming.Key: {Text: pattern}}
	}
	tests := map[string]struct {
		config sluice.Config
		with   []option
		want   []string
		mode   providers.AutonamingMode
	}{
		"verbatim":              {names(`{"mode": "verbatim"}`), nil, []string{"delete a", "create a"}, providers.AutonamingEnforce},
		"random":                {names(`{"pattern": "${name}-${hex(4)}"}`), nil, []string{"create a", "delete a"}, providers.AutonamingPropose},
		"disabled":              {names(`{"mode": "disabled"}`), nil, nil, providers.AutonamingDisable},
		"the program's word":    {names(`{"mode": "verbatim"}`), []option{deleteFirst(false)}, []string{"delete a", "create a"}, providers.AutonamingEnforce},
		"a pattern without any": {names(`{"pattern": "${project}-${name}"}`), nil, []string{"delete a", "create a"}, providers.AutonamingPropose},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.options.Config = test.config
			k.up(program(one(in{"immutable": 1}, test.with...)))
			r := k.up(program(one(in{"immutable": 2}, test.with...)))
			if test.want != nil {
				require.Equal(t, test.want, r.changed())
			}
			for _, c := range asked[providers.CheckRequest](r, "a") {
				require.NotNil(t, c.Autonaming)
				require.Equal(t, test.mode, c.Autonaming.Mode)
				switch name {
				case "verbatim":
					require.Equal(t, "a", c.Autonaming.ProposedName)
				case "random":
					require.Regexp(t, "^a-[0-9a-f]{4}$", c.Autonaming.ProposedName)
				}
			}
		})
	}
}
