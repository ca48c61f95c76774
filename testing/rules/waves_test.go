package rules

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/providers/providertest"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// wavesText returns a line for each deletion of a preview: "root: a b | c". Default providers are called "default".
func wavesText(r *ran) []string {
	var out []string
	for _, w := range eventsOf[stages.DeletionWaves](r) {
		out = append(out, nameOf(w.Root)+": "+namesOfWaves(w.Waves))
	}
	return out
}

func namesOfWaves(waves [][]urn.URN) string {
	var lists []string
	for _, wave := range waves {
		var names []string
		for _, u := range wave {
			names = append(names, nameOf(u))
		}
		lists = append(lists, strings.Join(names, " "))
	}
	return strings.Join(lists, " | ")
}

func nameOf(u urn.URN) string {
	switch {
	case u == "":
		return "end"
	case u.IsDefaultProvider():
		return "default"
	}
	return u.Name()
}

// branches declares a chain, a component whose child is used outside of it, and a thing without dependents.
func branches(size int) func(s *script) {
	return func(s *script) {
		_, ref := s.provider("prov", nil)
		a := s.thing("a", in{"size": size}, via(ref))
		g := s.group("g")
		b := s.thing("b", nil, via(ref), dependsOn(a), parent(g))
		c := s.thing("c", nil, via(ref), dependsOn(b))
		s.thing("d", nil, via(ref), dependsOn(c))
		s.thing("user", nil, via(ref), dependsOn(g))
		s.thing("alone", nil, via(ref))
	}
}

func TestPreviewSaysInWhichWavesItWouldDelete(t *testing.T) {
	tests := map[string]struct {
		before  source.Func
		preview func(*kit) *ran
		want    []string
	}{
		"a destroy": {
			before:  program(branches(1)),
			preview: func(k *kit) *ran { return k.try(sluice.PreviewDestroy, nil) },
			want:    []string{"end: alone d user | c | b | g a | prov"},
		},
		"an update that drops everything": {
			before:  program(branches(1)),
			preview: func(k *kit) *ran { return k.preview(nothing) },
			want:    []string{"end: alone d user | c | b | g a | prov"},
		},
		"by way of something that stays": {
			before: program(func(s *script) {
				_, ref := s.provider("prov", nil)
				b := s.thing("b", nil, via(ref), dependsOn(s.thing("a", nil, via(ref))))
				s.thing("c", nil, via(ref), dependsOn(b))
			}),
			preview: func(k *kit) *ran {
				return k.preview(program(func(s *script) {
					_, ref := s.provider("prov", nil)
					s.thing("b", nil, via(ref))
				}))
			},
			want: []string{"end: c | a"},
		},
		"old objects of replacements": {
			before: program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": 1}))) }),
			preview: func(k *kit) *ran {
				return k.preview(program(func(s *script) { s.thing("b", nil, from("immutableOf", s.thing("a", in{"immutable": 2}))) }))
			},
			want: []string{"end: b | a"},
		},
		"default providers": {
			before:  program(one(nil)),
			preview: func(k *kit) *ran { return k.preview(nothing) },
			want:    []string{"end: a | default"},
		},
		"what is only removed from the state": {
			before: program(func(s *script) {
				_, ref := s.provider("prov", nil)
				s.read("x", "x", func(r *stages.ReadRequest) { r.Provider = ref })
			}),
			preview: func(k *kit) *ran { return k.preview(nothing) },
			want:    []string{"end: prov"},
		},
		"nothing": {
			before:  program(branches(1)),
			preview: func(k *kit) *ran { return k.preview(program(branches(2))) },
		},
		"a delete-before-replace": {
			before:  program(deletedFirst(1)),
			preview: func(k *kit) *ran { return k.preview(program(deletedFirst(2))) },
			want:    []string{"a: c d | b | a"},
		},
		"a delete-before-replace that takes nothing along": {
			before:  program(one(in{"dbr": 1})),
			preview: func(k *kit) *ran { return k.preview(program(one(in{"dbr": 2}))) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.exists("x", nil)
			k.up(test.before)
			r := test.preview(k)
			require.NoError(t, r.err)
			require.Equal(t, test.want, wavesText(r))
		})
	}
}

// deletedFirst declares a hub with dependents that cannot change in place.
func deletedFirst(v int) func(s *script) {
	return func(s *script) {
		_, ref := s.provider("prov", nil)
		a := s.thing("a", in{"dbr": v}, via(ref))
		b := s.thing("b", nil, via(ref), from("immutableOf", a))
		s.thing("c", nil, via(ref), from("immutableOf", a))
		s.thing("d", nil, via(ref), from("immutableOf", b))
	}
}

func TestOnlyPreviewsHaveWaves(t *testing.T) {
	k := newKit(t)
	k.up(program(deletedFirst(1)))
	require.Empty(t, wavesText(k.up(program(deletedFirst(2)))))
	require.Empty(t, wavesText(k.destroy()))
}

func TestWavesDoNotDependOnTiming(t *testing.T) {
	program := func(v int) source.Func {
		return program(func(s *script) {
			if v == 1 {
				branches(1)(s)
			}
			for i := range 3 {
				a := s.thing(fmt.Sprint("hub", i), in{"dbr": v})
				for j := range 3 {
					s.thing(fmt.Sprintf("part%d%d", i, j), nil, from("immutableOf", a))
				}
			}
		})
	}
	for seed := range uint64(8) {
		for _, workers := range []int{1, 2, 64} {
			synctest.Test(t, func(t *testing.T) {
				k := newKitWith(t, providertest.Options{Seed: seed, MaxLatency: time.Minute})
				k.options.Parallel = workers
				k.up(program(1))
				require.ElementsMatch(t, []string{
					"hub0: part00 part01 part02 | hub0", "hub1: part10 part11 part12 | hub1", "hub2: part20 part21 part22 | hub2",
					"end: alone d user | c | b | g a | prov",
				}, wavesText(k.preview(program(2))))
			})
		}
	}
}

// The waves of the state alone are those in the preview of a destroy.
func TestWavesOfARecordedStateAreThoseOfADestroy(t *testing.T) {
	k := newKit(t)
	k.exists("x", nil)
	k.up(program(func(s *script) {
		branches(1)(s)
		s.read("x", "x")
		s.thing("last", nil)
	}))
	waves, err := sluice.DestroyWaves(k.state.Snapshot())
	require.NoError(t, err)
	var names [][]urn.URN
	for _, wave := range waves {
		names = append(names, urnsOf(wave))
	}
	require.Equal(t, []string{"end: " + namesOfWaves(names)}, wavesText(k.try(sluice.PreviewDestroy, nil)))
	require.Contains(t, namesOfWaves(names), "last")

	waves, err = sluice.DestroyWaves(nil)
	require.NoError(t, err)
	require.Empty(t, waves)
}

func urnsOf(resources []*state.Resource) []urn.URN {
	var out []urn.URN
	for _, r := range resources {
		out = append(out, r.URN)
	}
	return out
}
