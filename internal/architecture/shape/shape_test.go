package shape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func sample(t *testing.T) Package {
	t.Helper()
	list, err := Load(".", "./testdata/sample")
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

func TestFilesNeedWhatTheyReferTo(t *testing.T) {
	p := sample(t)
	require.Equal(t, "internal/architecture/shape/testdata/sample", p.Path)
	require.Equal(t, []string{"base.go", "middle.go", "top.go"}, p.Files)
	require.Equal(t, []Need{
		{From: "middle.go", To: "base.go", Refs: 1, Names: []string{"Least"}},
		{From: "middle.go", To: "top.go", Refs: 2, Names: []string{"Top", "on"}},
		{From: "top.go", To: "middle.go", Refs: 2, Names: []string{"count", "middle"}},
	}, p.Needs)
	require.Equal(t, []string{"middle.go", "top.go"}, p.Knot())
}

func TestTypesHaveMethodsFieldsAndBools(t *testing.T) {
	require.Equal(t, []Type{
		{Name: "Record", File: "base.go", Fields: 2, Bools: 2, Wire: true},
		{Name: "Set", File: "base.go", Methods: 2},
		{Name: "Top", File: "top.go", Methods: 1, Fields: 5, Bools: 3},
		{Name: "local", File: "base.go", Fields: 1, Bools: 1},
		{Name: "middle", File: "middle.go", Methods: 1, Fields: 1},
	}, sample(t).Types)
}

func TestExportedNamesAreThoseOfThePackage(t *testing.T) {
	require.Equal(t, []string{"Fresh", "Least", "Record", "Set", "Top"}, sample(t).Exported)
}

func TestCodeThatDoesNotCompileIsAnError(t *testing.T) {
	_, err := Load(".", "./testdata/none")
	require.ErrorContains(t, err, "testdata/none")
}

// ring returns a package in which each file needs the next one, and the last one the first.
func ring(n int) Package {
	var p Package
	for i := range n {
		p.Files = append(p.Files, fmt.Sprintf("%02d.go", i))
	}
	for i, file := range p.Files {
		p.Needs = append(p.Needs, Need{From: file, To: p.Files[(i+1)%n], Refs: 3, Names: []string{"next"}})
	}
	return p
}

func TestAKnotMayBeAQuarterOfThePackageOrEightFiles(t *testing.T) {
	require.Equal(t, 8, ring(20).KnotLimit())
	require.Equal(t, 10, ring(40).KnotLimit())
	require.Empty(t, ring(8).Cuts())
	require.Len(t, ring(9).Knot(), 9)
}

func TestTheLightestNeedsAreCut(t *testing.T) {
	p := ring(12)
	p.Needs[7].Refs = 1
	require.Equal(t, []Need{p.Needs[7]}, p.Cuts())
	require.Len(t, ring(12).Cuts(), 1)
}

func TestCutsLeaveNoKnotAboveTheLimit(t *testing.T) {
	p := ring(30)
	for i, file := range p.Files {
		p.Needs = append(p.Needs, Need{From: file, To: p.Files[i*7%30], Refs: 1 + i%4}, Need{From: file, To: p.Files[i*i%30], Refs: 2})
	}
	cuts := p.Cuts()
	require.LessOrEqual(t, len(p.knots(without(p.Needs, cuts))[0]), p.KnotLimit())
	for i := range cuts {
		rest := append(cuts[:i:i], cuts[i+1:]...)
		require.Greater(t, len(p.knots(without(p.Needs, rest))[0]), p.KnotLimit())
	}
}

func TestTheWorstSizesComeFirst(t *testing.T) {
	p := ring(12)
	p.Path = "a"
	p.Types = []Type{{Name: "T", Methods: 80, Fields: 1}, {Name: "Options", Fields: 50, Bools: 50}, {Name: "Record", Fields: 50, Wire: true}}
	sizes := Sizes([]Package{p})
	require.Equal(t, []Size{{Methods, "a.T", 80, 40}, {Knot, "a", 12, 8}, {Fields, "a.T", 1, 25}}, sizes[:3])

	var b strings.Builder
	require.NoError(t, Report(&b, []Package{p}, false))
	require.Equal(t, `SIZE  LIMIT         WHAT                        WHERE
80    40     above  methods                     a.T
12    8      above  files that need each other  a

a: 12 of 12 files need each other, the limit is 8
  00.go 01.go 02.go 03.go 04.go 05.go 06.go 07.go 08.go 09.go 10.go 11.go
  it would be within the limit without these needs (1):
    11.go needs 00.go 3 times: next
`, b.String())
}
