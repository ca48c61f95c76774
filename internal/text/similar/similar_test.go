package similar

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMostSimilarNameIsFound(t *testing.T) {
	for _, c := range []struct{ wanted, names, want string }{
		{"netwrok", "network net work", "network"},
		{"r400O", "r400 r4000 r4001", "r4000"},
		{"b", "a bucket", ""},
		{"vcp", "vpc vc", "vpc"},
		{"ab", "ba", "ba"},
		{"B", "a b", "b"},
		{"buckets", "bucket bucketz", "bucketz"},
		{"entirely", "bucket network", ""},
		{"ünïcode", "unicode", "unicode"},
		{"", "a", ""},
		{"x", "", ""},
	} {
		require.Equal(t, c.want, Name(c.wanted, strings.Fields(c.names)), c.wanted)
	}
}
