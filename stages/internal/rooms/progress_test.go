package rooms

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRegistrationsAreDecidedUpToTheFirstThatIsNot(t *testing.T) {
	p := newProgress()
	require.True(t, p.AreDecided(1), "nothing is before the first one")
	require.False(t, p.AreDecided(2))
	decided, reread := ProgressWriter{p, Decided}, ProgressWriter{p, Reread}
	decided.Pass(2)
	reread.Pass(1)
	require.False(t, p.AreDecided(2))
	decided.Pass(1)
	require.True(t, p.AreDecided(3))
	require.False(t, p.AreDecided(4))
}
