package lock

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/testing/fuzzing"
)

// FuzzLockFile uses any bytes as the lock file of another process. The lock is held in any case: a file that cannot be read,
// or whose holder is on an unknown machine, never counts as that of a dead process. Only a holder that has given it up says so in the file.
func FuzzLockFile(f *testing.F) {
	for _, s := range []string{
		`{"pid":12,"username":"me","hostname":"box","timestamp":"2026-01-02T03:04:05.000000006Z","extra":1}`, `{"pid":`, "", "null", "[]",
		`{"pid":-1,"tool":"sluice","boot":"","lease":{"run":"r","renewed":"2026-01-02T03:04:05Z","seconds":-5}}`,
		`{"pid":1,"tool":"sluice","lease":{"run":"r","renewed":"2026-01-02T03:04:05Z","seconds":60,"givenUp":true}}`,
	} {
		f.Add([]byte(s))
	}
	// This machine has a name that no file can have.
	self := Owner{Hostname: uuid.NewString(), Boot: uuid.NewString(), PID: 1, Tool: Tool}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := options(t)
		o.Owner = self
		put(t, o, "x.json", string(data))
		var held []Held
		var err error
		fuzzing.Bound(t, len(data), 100, func() { held, err = List(context.Background(), o) })
		require.NoError(t, err)
		require.Len(t, held, 1)
		require.Equal(t, LifeUnknown, held[0].Life)
		require.NotEmpty(t, held[0].Path)
		if !held[0].Unknown {
			text, err := json.Marshal(held[0].Owner)
			require.NoError(t, err)
			var again Owner
			require.NoError(t, json.Unmarshal(text, &again))
			twice, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(text), string(twice))
		}
		l, err := Acquire(context.Background(), o)
		if held[0].HasEnded() && held[0].Owner.Tool == Tool {
			require.NoError(t, err)
			require.NoError(t, l.Release())
			return
		}
		var e *HeldError
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Error(), "x.json")
		all, err := o.Store.List(context.Background(), folder+"/")
		require.NoError(t, err)
		require.Len(t, all, 1)
	})
}
