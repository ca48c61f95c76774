package operation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingBeginsBehindAnOperationThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b background
		done := false
		b.run(func() { time.Sleep(time.Second); done = true })
		b.end()
		require.True(t, done, "what runs is waited for")
		b.run(func() { t.Error("it has ended") })
		b.end()
	})
}
