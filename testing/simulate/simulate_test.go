package simulate_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/simulate"
)

var (
	duration = flag.Duration("simulate.for", 0, "how long to try random cases; 0 tries a fixed few")
	seed     = flag.Uint64("simulate.seed", 0, "the first seed of -simulate.for; 0 takes one from the clock")
	most     = flag.Int("simulate.faults", 1, "after how many cases that fail to stop")
)

// totals sums up reports.
type totals struct {
	cases, operations, attempts, compared int
	excused                               map[string]int
}

func (s *totals) add(r simulate.Report) {
	s.cases++
	s.operations += r.Operations
	s.attempts += r.Attempts
	s.compared += r.Compared
	for why, n := range r.Excused {
		s.excused[why] += n
	}
}

func generated(seed uint64) simulate.Case { return simulate.Generate(rand.New(rand.NewPCG(seed, 1))) }

// The engine keeps its promises in generated histories: a few fixed ones, or as many as fit into -simulate.for.
func TestRandomCases(t *testing.T) {
	sum := totals{excused: map[string]int{}}
	first, last := uint64(1), uint64(100)
	var end time.Time
	faults := 0
	if *duration > 0 {
		first, end, last = *seed, time.Now().Add(*duration), 1<<63
		if first == 0 {
			first = uint64(time.Now().UnixNano())
		}
		t.Logf("the first seed is %d", first)
	}
	for n := first; n <= last && (end.IsZero() || time.Now().Before(end)); n++ {
		r := simulate.Check(t, generated(n))
		if sum.add(r); len(r.Faults) > 0 {
			t.Logf("that was seed %d", n)
			if faults++; faults >= *most {
				break
			}
		}
	}
	t.Logf("%d cases with %d operations, run %d times; %d comparisons, excused: %v", sum.cases, sum.operations, sum.attempts, sum.compared, sum.excused)
}

// Cases that found a fault once.
func TestKnownCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.json")
	require.NoError(t, err)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var c simulate.Case
			require.NoError(t, json.Unmarshal(text, &c))
			simulate.Check(t, c)
		})
	}
}

// FuzzEngine lets Go's fuzzer make the choices.
func FuzzEngine(f *testing.F) {
	f.Add([]byte{})
	for n := range uint64(8) {
		rng := rand.New(rand.NewPCG(n, 2))
		choices := make([]byte, 400)
		for i := range choices {
			choices[i] = byte(rng.Uint32())
		}
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		b := simulate.Bytes(choices)
		simulate.Check(t, simulate.Generate(&b))
	})
}
