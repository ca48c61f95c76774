package book

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRegistrationsAreDecidedUpToTheFirstThatIsNot(t *testing.T) {
	p := newProgress()
	require.True(t, p.AreDecided(1), "nothing is before the first one")
	require.False(t, p.AreDecided(2))
	p.Pass(2, Decided)
	p.Pass(1, Reread)
	require.False(t, p.AreDecided(2))
	p.Pass(1, Decided)
	require.True(t, p.AreDecided(3))
	require.False(t, p.AreDecided(4))
}
