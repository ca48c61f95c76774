package flags

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// Sample chooses a random share of the resources.
type Sample struct{ share, seed string }

// Add registers the flags. verb is what is done with the resources: "read".
func (s *Sample) Add(f *pflag.FlagSet, verb string) {
	f.StringVar(&s.share, "sample", "", verb+" only a random `share` of the resources, for example 10%")
	f.StringVar(&s.seed, "sample-seed", "", "with --sample: choose by this `text`, so that the same text chooses the same resources")
}

// IsSet reports whether a sample is to be chosen.
func (s *Sample) IsSet() bool { return s.share != "" }

// Check refuses a share that chooses nothing, and a seed without a share.
func (s *Sample) Check() error {
	if !s.IsSet() && s.seed != "" {
		return exit.Usagef("--sample-seed needs --sample")
	}
	_, err := s.part()
	return err
}

func (s *Sample) part() (float64, error) {
	part, ok := parseShare(s.share)
	if s.IsSet() && (!ok || part == 0) {
		return 0, exit.Usagef("--sample %s: write a share of the resources, above 0%% and up to 100%%", s.share)
	}
	return part, nil
}

// Seed returns the text by which resources are chosen, a random one if none was given. Later calls return the same.
func (s *Sample) Seed() string {
	if s.seed == "" {
		random := make([]byte, 4)
		_, _ = rand.Read(random) // it never fails
		s.seed = hex.EncodeToString(random)
	}
	return s.seed
}

// Choose returns the share of the names, at least one if there is one, sorted. Each name has its place by the seed, whatever the others are: a
// larger share contains a smaller one, and a new name pushes out one other at most.
func (s *Sample) Choose(names []string) ([]string, error) {
	part, err := s.part()
	if err != nil {
		return nil, err
	}
	seed := s.Seed()
	places := make(map[string]uint64, len(names))
	for _, name := range names {
		sum := sha256.Sum256([]byte(seed + "\x00" + name))
		places[name] = binary.BigEndian.Uint64(sum[:])
	}
	chosen := slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Or(cmp.Compare(places[a], places[b]), cmp.Compare(a, b)) })
	chosen = chosen[:int(math.Ceil(part*float64(len(names))-1e-9))]
	slices.Sort(chosen)
	return chosen, nil
}

// parseShare reads a share from 0 to 1, in percent with the sign.
func parseShare(text string) (share float64, ok bool) {
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseFloat(number, 64)
	if isPercent {
		share /= 100
	}
	return share, err == nil && share >= 0 && share <= 1 // NaN is neither
}
