package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/state"
)

// startOf writes a state into the store and reads it back, as an operation does.
func startOf(t *testing.T, m *memory, rs ...*state.Resource) *state.Snapshot {
	t.Helper()
	calls := new(atomic.Int64)
	calls.Store(1000)
	s := &state.Snapshot{
		Manifest: state.Manifest{Version: "t", Magic: state.Magic("t")}, SecretsProvider: provider, Resources: rs,
		Pending:  []state.Pending{{Type: state.Creating, Resource: thing("forgotten")}, {Type: state.Updating, Resource: thing("changed")}},
		Snippets: []json.RawMessage{json.RawMessage(`{"uuid":"s1"}`), json.RawMessage(`{"uuid":"s2","name":"<x>"}`)},
	}
	b, err := encoderFor(calls).Checkpoint(context.Background(), stackName, s)
	require.NoError(t, err)
	m.file = b
	c, err := state.DecodeCheckpoint(context.Background(), b, state.DecodeOptions{})
	require.NoError(t, err)
	return c.Latest
}

func (m *memory) options(base *state.Snapshot, calls *atomic.Int64) Options {
	return Options{
		Ledger: state.NewLedger(base, ledgerOptions()), Base: base, Content: m.file, Secrets: provider, Store: m, Tool: "t", Now: fixedNow,
		Checkpoint: state.CheckpointOptions{Stack: stackName, Encoder: encoderFor(calls), Save: m.save},
	}
}

func (m *memory) recovery() Recovery {
	return Recovery{
		Stack: stackName, Store: m, Content: m.file, Checkpoint: state.CheckpointOptions{Save: m.save},
		Encoder: func(_ context.Context, p *state.SecretsProvider) *state.Encoder {
			return state.NewEncoder(state.EncoderOptions{Crypter: p.Identity()}) // it can encrypt nothing
		},
		Ledger: state.LedgerOptions{Version: "t", Now: fixedNow},
	}
}

// After every record of generated runs, the checkpoint recovered from the journal equals byte for byte the one of a
// recorder that rewrites the checkpoint.
func TestRecoveredCheckpointIsWhatTheRunWouldHaveWritten(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m, calls := &memory{}, new(atomic.Int64)
			base := startOf(t, m, thing("a"), thing("b"), thing("c"))
			if seed%5 == 4 {
				base = &state.Snapshot{SecretsProvider: provider, Resources: base.Resources} // not the snapshot that was read
			}
			o := m.options(base, calls)
			o.OnlyAtEnd, o.Checkpoint.SkipIntegrity = true, true
			journal := NewRecorder(o)
			var written []byte
			classic := state.NewCheckpointRecorder(state.NewLedger(base, ledgerOptions()), state.CheckpointOptions{
				Stack: stackName, Encoder: encoderFor(calls), SkipIntegrity: true,
				Save: func(_ context.Context, b []byte) error { written = b; return nil },
			})
			h := &history{t: t, random: rand.New(rand.NewPCG(seed, 1)), to: []state.Recorder{journal, classic}, live: slices.Clone(base.Resources)}
			for range 40 {
				if h.random.IntN(10) == 0 && journal.created {
					_, err := journal.compact(context.Background())
					require.NoError(t, err)
				}
				before := written
				h.step()
				if bytes.Equal(before, written) {
					continue // elided, in both
				}
				killed := m.copy()
				recovery := killed.recovery()
				recovery.Checkpoint.SkipIntegrity = true
				report, err := Recover(context.Background(), recovery)
				require.NoError(t, err)
				require.Equal(t, string(written), string(killed.file))
				require.Nil(t, killed.journal)
				again, err := Recover(context.Background(), killed.recovery())
				require.NoError(t, err)
				require.Nil(t, again)
				require.NotNil(t, report)
			}
			require.NoError(t, classic.Close(context.Background()))
			require.NoError(t, journal.Close(context.Background()))
			require.Equal(t, string(written), string(m.file))
			require.Nil(t, m.journal)
			require.Nil(t, m.base)
		})
	}
}

// After a change of the secrets provider, the recovered checkpoint names the new one, so nothing in it may be encrypted by the old one.
func TestARecoveredCheckpointIsEncryptedByTheSecretsProviderOfItsRun(t *testing.T) {
	ctx := context.Background()
	m, calls := &memory{}, new(atomic.Int64)
	startOf(t, m, thing("a"), thing("b"))
	c, err := state.DecodeCheckpoint(ctx, m.file, state.DecodeOptions{
		Decrypter: func(context.Context, *state.SecretsProvider) (property.Decrypter, error) { return sealing{}, nil },
	})
	require.NoError(t, err)
	base, next := c.Latest, &state.SecretsProvider{Type: "passphrase", State: json.RawMessage(`{"salt":"v1:other"}`)}
	o := m.options(base, calls)
	o.Secrets, o.Ledger = next, state.NewLedger(base, state.LedgerOptions{Version: "t", Now: fixedNow, SecretsProvider: next})
	o.Checkpoint.Encoder = state.NewEncoder(state.EncoderOptions{Encrypter: sealing{calls}, Crypter: next.Identity()})
	r := NewRecorder(o)
	made := base.Resources[0].Clone()
	require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Updating, Resource: made}))
	require.NoError(t, r.End(ctx, state.Change{Begun: made, Remove: base.Resources[:1], Add: made}))

	killed := m.copy()
	require.Contains(t, string(killed.file), "sealed 10")
	_, err = Recover(ctx, killed.recovery())
	require.NoError(t, err)
	require.Contains(t, string(killed.file), "v1:other")
	require.NotContains(t, string(killed.file), "sealed 10", "a ciphertext of the former secrets provider remains")
	require.NoError(t, r.Close(ctx))
	require.Equal(t, string(m.file), string(killed.file))
}

func TestNoSecretIsInTheJournal(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	base := startOf(t, m, thing("a"))
	r := NewRecorder(m.options(base, calls))
	h := &history{t: t, random: rand.New(rand.NewPCG(1, 1)), to: []state.Recorder{r}, live: slices.Clone(base.Resources)}
	for range 30 {
		h.step()
	}
	require.Contains(t, string(m.journal), "sealed")
	require.NotContains(t, string(m.journal), "hidden")
	require.NoError(t, r.Close(context.Background()))
}

func TestUnchangedSecretKeepsItsCiphertext(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	r := NewRecorder(m.options(startOf(t, m), calls))
	goal := thing("x")
	require.NoError(t, r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: goal}))
	made := goal.Clone()
	made.ID = "other"
	require.NoError(t, r.End(context.Background(), state.Change{Begun: goal, Add: made}))
	require.EqualValues(t, 1, calls.Load(), "the secret is encrypted once for begin, end and checkpoint")
	require.Equal(t, 2, bytes.Count(m.journal, []byte("sealed 1:")))
	require.NoError(t, r.Close(context.Background()))
	require.EqualValues(t, 1, calls.Load())
	require.Contains(t, string(m.file), "sealed 1:")
}

func TestRunThatChangesNothingMakesNoJournal(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	base := startOf(t, m, thing("a"))
	r := NewRecorder(m.options(base, calls))
	require.NoError(t, r.End(context.Background(), state.Change{Add: base.Resources[0].Clone(), Remove: base.Resources[:1], Elide: true}))
	require.NoError(t, r.Close(context.Background()))
	require.NoError(t, r.Close(context.Background()))
	require.Zero(t, m.appends)
	require.Equal(t, 1, m.saves)
}

// slow makes every write to the journal take a second.
func slow(m *memory) {
	m.crash = func(what string) (float64, error) {
		if what == "append" || what == "create" {
			m.mu.Unlock()
			time.Sleep(time.Second)
			m.mu.Lock()
		}
		return 0, nil
	}
}

func TestRecordsThatWaitShareOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := &memory{}, new(atomic.Int64)
		base := startOf(t, m)
		slow(m)
		o := m.options(base, calls)
		o.OnlyAtEnd = true
		r := NewRecorder(o)
		began := time.Now()
		var wg conc.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				res := thing(fmt.Sprintf("r%02d", i))
				if err := r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: res}); err != nil {
					panic(err)
				}
				m.mu.Lock()
				defer m.mu.Unlock()
				if !bytes.Contains(m.journal, []byte(res.URN)) {
					panic("returned before its record was durable")
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(t, m.appends, 3)
		require.LessOrEqual(t, time.Since(began), 3*time.Second)
		require.NoError(t, r.Close(context.Background()))
	})
}

func TestCheckpointIsWrittenDuringLongRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := &memory{}, new(atomic.Int64)
		base := startOf(t, m)
		r := NewRecorder(m.options(base, calls))
		record := func(name string) {
			require.NoError(t, r.End(context.Background(), state.Change{Add: thing(name)}))
		}
		for i := range 1000 {
			record(fmt.Sprint(i))
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		require.LessOrEqual(t, m.copy().saves, 5, "not more often than every two seconds")
		require.GreaterOrEqual(t, m.copy().saves, 2)
		time.Sleep(time.Minute)
		synctest.Wait()
		saves := m.copy().saves

		record("a little")
		time.Sleep(25 * time.Second)
		synctest.Wait()
		require.Equal(t, saves, m.copy().saves, "for little the whole state is not written soon")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		saves++
		require.Equal(t, saves, m.copy().saves)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, saves, m.copy().saves, "nothing is written when nothing has changed")
		require.NoError(t, r.Close(context.Background()))
		require.Equal(t, saves, m.copy().saves)
		require.Nil(t, m.journal)
	})
}

func TestWhatIsWrittenIsLinearInWhatIsDone(t *testing.T) {
	written := func(n int) (bytes int) {
		synctest.Test(t, func(t *testing.T) {
			m, calls := &memory{}, new(atomic.Int64)
			base := startOf(t, m)
			o := m.options(base, calls)
			o.Checkpoint.Save = func(ctx context.Context, b []byte) error {
				bytes += len(b)
				return m.save(ctx, b)
			}
			r := NewRecorder(o)
			for i := range n {
				res := thing(fmt.Sprintf("r%05d", i))
				require.NoError(t, r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: res}))
				require.NoError(t, r.End(context.Background(), state.Change{Begun: res, Add: res}))
				time.Sleep(20 * time.Millisecond)
			}
			bytes += len(m.journal)
			require.NoError(t, r.Close(context.Background()))
		})
		return bytes
	}
	small, large := written(500), written(4000)
	require.LessOrEqual(t, large, 8*small*12/10, "8 times as much for 8 times as many, but for where the checkpoints fall")
}

func TestCheckpointIsRetriedWhenTheDiskHadNoSpace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := &memory{}, new(atomic.Int64)
		base := startOf(t, m)
		before := string(m.file)
		r := NewRecorder(m.options(base, calls))
		var full atomic.Bool
		full.Store(true)
		m.crash = func(what string) (float64, error) {
			if what == "save" && full.Load() {
				return 0, errFull
			}
			return 0, nil
		}
		require.NoError(t, r.End(context.Background(), state.Change{Add: thing("x")}))
		time.Sleep(40 * time.Second)
		synctest.Wait()
		require.Equal(t, before, string(m.copy().file))
		require.NoError(t, r.End(context.Background(), state.Change{Add: thing("y")}), "the run goes on")
		require.ErrorIs(t, r.Close(context.Background()), errFull)
		require.NotNil(t, m.journal, "the next command finds it")
		full.Store(false)
		report, err := Recover(context.Background(), m.recovery())
		require.NoError(t, err)
		require.True(t, report.Written)
		require.Contains(t, string(m.file), "id-x")
		require.Contains(t, string(m.file), "id-y")
	})
}

func TestJournalThatCannotBeWrittenEndsTheRecording(t *testing.T) {
	for _, part := range []float64{0, 0.3, 0.99} {
		for _, failing := range []string{"create", "append"} {
			t.Run(fmt.Sprint(failing, part), func(t *testing.T) {
				m, calls := &memory{}, new(atomic.Int64)
				r := NewRecorder(m.options(startOf(t, m), calls))
				if failing == "append" {
					require.NoError(t, r.End(context.Background(), state.Change{Add: thing("first")}))
				}
				m.crash = func(what string) (float64, error) {
					if what == failing {
						return part, errFull
					}
					return 0, nil
				}
				err := r.End(context.Background(), state.Change{Add: thing("second")})
				require.ErrorIs(t, err, errFull)
				require.ErrorContains(t, err, "dev.jnl")
				require.ErrorIs(t, r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: thing("third")}), errFull)
				require.ErrorIs(t, r.End(context.Background(), state.Change{Add: thing("fourth")}), errFull, "what was under way ends")

				// A kill here leaves the first record, and the unfinished one is cut off.
				killed := m.copy()
				_, err = Recover(context.Background(), killed.recovery())
				require.NoError(t, err)
				require.Equal(t, failing == "append", bytes.Contains(killed.file, []byte("id-first")))

				// The end of the run saves the records that the journal could not take.
				require.NoError(t, r.Close(context.Background()))
				require.Contains(t, string(m.file), "id-second")
				require.Contains(t, string(m.file), "id-fourth")
				require.NotContains(t, string(m.file), "id-third")
				require.Nil(t, m.journal)
			})
		}
	}
}

// locked is an encrypter whose key service may be away.
type locked struct{ away *bool }

func (l locked) Encrypt(_ context.Context, text string) (string, error) {
	if *l.away {
		return "", errors.New("the key service is away")
	}
	return "sealed:" + text, nil
}

func TestAnObjectWhoseSecretsCannotBeEncryptedIsSavedAtTheEnd(t *testing.T) {
	ctx := context.Background()
	for name, begins := range map[string]bool{"its step has begun": true, "it is the first record": false} {
		t.Run(name, func(t *testing.T) {
			m, away := &memory{}, false
			o := m.options(startOf(t, m), new(atomic.Int64))
			o.Checkpoint.Encoder = state.NewEncoder(state.EncoderOptions{Encrypter: locked{&away}, Crypter: provider.Identity()})
			r := NewRecorder(o)
			made := thing("made")
			change := state.Change{}
			if begins {
				require.NoError(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: made}))
				change.Begun, made = made, made.Clone()
			}
			made.Outputs = property.NewMap(map[string]property.Value{"password": property.Secret(property.String("x"))})
			change.Add = made
			away = true
			require.ErrorContains(t, r.End(ctx, change), "the key service is away")
			require.ErrorContains(t, r.Begin(ctx, state.Pending{Type: state.Creating, Resource: thing("next")}), "the key service is away")

			away = false
			require.NoError(t, r.Close(ctx))
			require.Contains(t, string(m.file), "id-made")
			saved, err := state.DecodeCheckpoint(ctx, m.file, state.DecodeOptions{})
			require.NoError(t, err)
			for _, op := range saved.Latest.Pending {
				require.NotEqual(t, made.URN, op.Resource.URN, "its create has ended")
			}
			require.Nil(t, m.journal)
		})
	}
}

// In the last checkpoint, an operation that could not be recorded is not pending.
func TestABeginThatCannotBeWrittenHasNotBegun(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	r := NewRecorder(m.options(startOf(t, m), calls))
	m.crash = func(what string) (float64, error) {
		if what == "create" {
			return 0, errFull
		}
		return 0, nil
	}
	require.ErrorIs(t, r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: thing("refused")}), errFull)
	require.NoError(t, r.Close(context.Background()))
	require.Contains(t, string(m.file), "id-forgotten")
	require.NotContains(t, string(m.file), "id-refused")
}

func TestOperationsThatEarlierRunsHadBegunAreReportedAsTheirs(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	r := NewRecorder(m.options(startOf(t, m), calls))
	require.NoError(t, r.Begin(context.Background(), state.Pending{Type: state.Creating, Resource: thing("own")}))
	report, err := Recover(context.Background(), m.copy().recovery())
	require.NoError(t, err)
	names := func(ops []state.Pending) (list []string) {
		for _, op := range ops {
			list = append(list, op.Resource.URN.Name())
		}
		return list
	}
	require.ElementsMatch(t, []string{"forgotten", "changed", "own"}, names(report.Open))
	require.ElementsMatch(t, []string{"forgotten", "changed"}, names(report.Earlier))
}

func TestInvalidStateNeverReplacesTheCheckpoint(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	o := m.options(startOf(t, m, thing("a")), calls)
	var aside []byte
	o.Checkpoint.SetAside = func(_ context.Context, b []byte) (string, error) { aside = b; return "the attic", nil }
	r := NewRecorder(o)
	require.NoError(t, r.End(context.Background(), state.Change{Add: thing("b", func(r *state.Resource) {
		r.Dependencies = append(r.Dependencies, thing("nobody").URN)
	})}))
	err := r.Close(context.Background())
	var broken *state.IntegrityError
	require.ErrorAs(t, err, &broken)
	require.ErrorContains(t, err, "the attic")
	require.Contains(t, string(aside), "nobody")
	require.NotContains(t, string(m.file), "nobody", "the repaired form")
	require.Contains(t, string(m.file), "id-b")
	require.Nil(t, m.journal, "it would lead to the invalid state again")
}

func TestRecorderRefusesWhatTheLedgerRefuses(t *testing.T) {
	m, calls := &memory{}, new(atomic.Int64)
	r := NewRecorder(m.options(startOf(t, m), calls))
	require.ErrorIs(t, r.End(context.Background(), state.Change{Remove: []*state.Resource{thing("x")}}), state.ErrNotRecorded)
	require.NoError(t, r.End(context.Background(), state.Change{Add: thing("y")}))
	require.NoError(t, r.Close(context.Background()))
	require.ErrorIs(t, r.End(context.Background(), state.Change{Add: thing("z")}), state.ErrClosed)
}

func TestWhatARefreshFindsIsInTheJournalBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, calls := &memory{}, new(atomic.Int64)
		base := startOf(t, m, thing("a"), thing("b"))
		r := NewRecorder(m.options(base, calls))
		now := base.Resources[0].Clone()
		now.ID = "found"
		require.NoError(t, r.End(t.Context(), state.Change{
			Replace: []state.Replacement{{Old: base.Resources[0], New: now}}, Refresh: true, Elide: true,
		}))
		require.Nil(t, m.copy().journal, "nobody waits for it")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		killed := m.copy()
		_, err := Recover(t.Context(), killed.recovery())
		require.NoError(t, err)
		require.Contains(t, string(killed.file), `"id":"found"`)
		require.NoError(t, r.Close(t.Context()))
	})
}
