package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
)

// seeds is the number of generated runs for each property.
const seeds = 3

// requireDamaged requires that a journal is refused, at the byte that changed or before it, and that nothing is touched.
func requireDamaged(t *testing.T, m *memory, at int, what string, args ...any) {
	t.Helper()
	c, _, err := recoverCopy(m)
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged, append([]any{what}, args...)...)
	require.LessOrEqual(t, damaged.Offset, int64(at))
	require.Error(t, damaged.Err)
	require.True(t, bytes.Equal(m.journal, c.journal), "the journal is left as it is")
	require.True(t, bytes.Equal(m.file, c.file), "nothing is applied")
}

// requireTorn requires that everything before the tail is recovered, and that the bytes of the tail are kept.
func requireTorn(t *testing.T, m *memory, what string, args ...any) {
	t.Helper()
	j, err := Read(m.journal, "x")
	require.NoError(t, err, append([]any{what}, args...)...)
	require.NotZero(t, j.Torn)
	before := m.copy()
	before.journal = m.journal[:j.size]
	want, _, err := recoverCopy(before)
	require.NoError(t, err)

	c := m.copy()
	o := c.recovery()
	o.Checkpoint.SkipIntegrity = true
	var kept []byte
	o.Aside = func(_ context.Context, torn []byte) error {
		require.True(t, bytes.Equal(m.journal, c.journal), "they are kept before they are cut off")
		kept = torn
		return nil
	}
	_, err = Recover(context.Background(), o)
	require.NoError(t, err)
	require.True(t, bytes.Equal(m.journal[j.size:], kept))
	require.True(t, bytes.Equal(want.file, c.file))
	require.Nil(t, c.journal)
}

// Any change of any byte of a journal is damage, in its last group too: the group was complete, so it could have been
// acknowledged.
func TestEveryByteThatChangesIsDamage(t *testing.T) {
	for seed := range uint64(seeds) {
		m, marks := leftBy(t, 12, seed)
		whole, random := m.journal, rand.New(rand.NewPCG(seed, 1))
		for at := range whole {
			for _, mask := range []byte{0x01, 0x80, 0x55, whole[at], byte(1 + random.IntN(255))} {
				if mask == 0 {
					continue
				}
				m.journal = bytes.Clone(whole)
				m.journal[at] ^= mask
				if mask == 0x55 && (at >= marks[len(marks)-2] && at%4 == 0 || at%64 == 0) {
					requireDamaged(t, m, at, "run %d, byte %d", seed, at)
					continue
				}
				_, err := Read(m.journal, "x")
				require.ErrorAs(t, err, new(*DamagedError), "run %d, byte %d, mask %x", seed, at, mask)
			}
		}
	}
}

// The journals of the first versions of sluice do not mark the beginning of a group. Damage to them is found all the
// same.
func TestEveryByteThatChangesInAnOldJournalIsDamage(t *testing.T) {
	m, _ := left(t, 12)
	whole := withoutFirst(t, m.journal)
	for at := range whole {
		m.journal = bytes.Clone(whole)
		m.journal[at] ^= 0x55
		_, err := Read(m.journal, "x")
		require.ErrorAs(t, err, new(*DamagedError), "byte %d", at)
	}
	m.journal = whole
	_, _, err := recoverCopy(m)
	require.NoError(t, err)
}

// withoutFirst removes from a journal the fields that its first version did not have.
func withoutFirst(t *testing.T, data []byte) []byte {
	payload, rest, ok := cutFrame(data)
	require.True(t, ok)
	b := bytes.Clone(data[:frameHeader+len(payload)])
	for len(rest) > 0 {
		payload, after, ok := cutFrame(rest)
		require.True(t, ok)
		var e entry
		require.NoError(t, json.Unmarshal(payload, &e))
		e.First, rest = 0, after
		var err error
		b, err = appendEntry(b, &e)
		require.NoError(t, err)
	}
	require.Less(t, len(b), len(data))
	return b
}

// A length beyond the end of the file looks like that of a record with an incomplete write.
func TestChangedLengthsAreDamage(t *testing.T) {
	m, marks := left(t, 12)
	whole, last := m.journal, marks[len(marks)-2]
	n := binary.LittleEndian.Uint32(whole[last:])
	for _, length := range []uint32{0, 1, n - 1, n + 1, n + 1000, 1 << 31, 1<<32 - 1} {
		m.journal = bytes.Clone(whole)
		binary.LittleEndian.PutUint32(m.journal[last:], length)
		requireDamaged(t, m, last, "length %d", length)
	}
	m.journal = append(bytes.Clone(whole[:last]), bytes.Repeat([]byte("garbage "), 100)...)
	requireDamaged(t, m, last, "garbage")
}

// A machine that goes down may leave the length of an unfinished record, and zeros in place of the rest.
func TestZerosAtTheEndAreTorn(t *testing.T) {
	for seed := range uint64(seeds) {
		m, marks := leftBy(t, 12, seed)
		whole, last := m.journal, marks[len(marks)-2]
		for from := last; from <= len(whole)-shortestHole; from++ {
			m.journal = append(bytes.Clone(whole[:from]), make([]byte, len(whole)-from)...)
			j, err := Read(m.journal, "x")
			require.NoError(t, err, "run %d, from byte %d", seed, from)
			require.GreaterOrEqual(t, int(j.size), last)
			require.Equal(t, len(whole), int(j.size)+j.Torn)
			if from%16 == 0 {
				requireTorn(t, m, "run %d, from byte %d", seed, from)
				m.journal = append(m.journal, make([]byte, 4096)...)
				requireTorn(t, m, "run %d, from byte %d, more", seed, from)
			}
		}
		m.journal = append(bytes.Clone(whole), make([]byte, 4096)...)
		requireTorn(t, m, "run %d, after what was durable", seed)
	}
}

// long is a journal of three groups: the last two have several records each, and many sectors.
func long(t *testing.T) (data []byte, marks []int) {
	b, err := appendHeader(nil, &Header{Format: format, Stack: stackName, Base: Base{Digest: state.Digest(nil)}})
	require.NoError(t, err)
	marks = append(marks, len(b))
	number := 0
	for group := 1; group <= 2; group++ {
		first := number + 1
		for range 5 {
			number++
			text := bytes.Repeat([]byte("x"), 700)
			b, err = appendEntry(b, &entry{
				Number: number, Group: group, First: first, Kind: kindCheckpoint, Digest: string(text),
			})
			require.NoError(t, err)
		}
		marks = append(marks, len(b))
	}
	return b, marks
}

// The sectors of one write reach the disk in any order, but only after everything that was durable before it.
func TestSectorsOfZerosAreTornInTheLastGroupAndDamageBeforeIt(t *testing.T) {
	whole, marks := long(t)
	seen := map[bool]int{}
	for from := 0; from < len(whole); from += sector {
		begin, end := max(from, marks[1]), min(from+sector, len(whole))
		if from < marks[1] { // durable and other bytes share a sector
			begin = from
		}
		damaged := append(append(bytes.Clone(whole[:begin]), make([]byte, end-begin)...), whole[end:]...)
		j, err := Read(damaged, "x")
		seen[err == nil]++
		if begin < marks[1] {
			require.ErrorAs(t, err, new(*DamagedError), "sector at byte %d", from)
			continue
		}
		require.NoError(t, err, "sector at byte %d", from)
		require.Equal(t, len(whole), int(j.size)+j.Torn)
		require.LessOrEqual(t, int(j.size), begin)
		require.GreaterOrEqual(t, int(j.size), marks[1])
	}
	require.Greater(t, seen[true], 3)
	require.Greater(t, seen[false], 3)
}

// Zeros that do not fill a sector are damage: an incomplete write does not leave them.
func TestZerosInTheMiddleOfASectorAreDamage(t *testing.T) {
	whole, marks := long(t)
	at := marks[1] + 20
	damaged := append(append(bytes.Clone(whole[:at]), make([]byte, 100)...), whole[at+100:]...)
	_, err := Read(damaged, "x")
	require.ErrorAs(t, err, new(*DamagedError))
}
