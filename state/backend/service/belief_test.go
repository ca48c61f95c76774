package service

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/testing/servicetest"
)

func answer(text string) *string { return &text }

// emptyStates are states without resources; the last two are valid states of a stack.
var emptyStates = []string{
	`{"version": 3}`, `{"version": 3, "deployment": null}`, `{"version": 3, "deployment": {}}`,
	`{"version": 3, "deployment": {"manifest": {"time": "0001-01-01T00:00:00Z", "magic": "", "version": ""}}}`,
	`{"version": 3, "deployment": {"manifest": {"time": "2026-01-01T00:00:00Z", "magic": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "version": "x"}, "resources": []}}`,
}

// A stack with resources is not taken for an empty one, neither before an operation nor when it begins.
func TestEmptyStatesAreRefusedThatCannotBe(t *testing.T) {
	for _, text := range append([]string{`{}`, `null`, `{"message": "Not Found"}`}, emptyStates...) {
		for after := range 2 { // the state is read for the lock, and when the update has begun
			server, b := open(t, servicetest.Options{Journal: true}, nil)
			s := made(t, b)
			done, _, err := faultyOperation(t, s, "one")
			require.NoError(t, err)
			require.True(t, done)
			before := string(server.State("alice/demo/dev"))
			server.Inject(servicetest.Fault{Call: "GET export", Status: 200, Body: answer(text), After: after})
			done, _, err = faultyOperation(t, s, "two")
			require.Error(t, err, text)
			require.True(t, isDoubtful(err), "%s: %v", text, err)
			require.False(t, done)
			server.Heal()
			require.JSONEq(t, before, string(server.State("alice/demo/dev")))
			done, _, err = faultyOperation(t, s, "two")
			require.NoError(t, err, text)
			require.True(t, done)
		}
	}
}

// A stack that was never updated, or whose resources are gone, is empty.
func TestStacksCanBeEmpty(t *testing.T) {
	for _, text := range emptyStates {
		server, b := open(t, servicetest.Options{}, nil)
		s := made(t, b)
		server.Inject(servicetest.Fault{Call: "GET export", Status: 200, Body: answer(text), Times: 1})
		_, err := s.Load(t.Context())
		require.NoError(t, err, text)
	}
	_, b := open(t, servicetest.Options{Journal: true}, nil)
	s := made(t, b)
	for range 2 { // the second time the stack has updates, and nothing else
		l, err := s.Lock(t.Context(), backend.LockOptions{})
		require.NoError(t, err)
		run, err := s.Begin(t.Context(), backend.Operation{Kind: "update"})
		require.NoError(t, err)
		require.NoError(t, run.End(t.Context(), backend.Update{Result: backend.ResultFailed}))
		require.NoError(t, l.Close())
	}
}

// An update whose beginning is answered wrongly is ended, and nothing is done in it.
func TestUpdatesBeginOnlyWithALease(t *testing.T) {
	for _, text := range []string{`{}`, `{"version": 2}`, `{"version": 2, "token": ""}`, `{"version": 1, "token": "x"}`, `<html>`} {
		for _, takesEffect := range []bool{false, true} {
			server, b := open(t, servicetest.Options{Journal: true}, nil)
			s := made(t, b)
			_, _, err := faultyOperation(t, s, "one")
			require.NoError(t, err)
			server.Inject(servicetest.Fault{Call: "POST update/0", Status: 200, Body: answer(text), Done: takesEffect, Times: 1})
			done, _, err := faultyOperation(t, s, "two")
			require.Error(t, err, text)
			require.False(t, done)
			done, _, err = faultyOperation(t, s, "two")
			require.NoError(t, err, text)
			require.True(t, done)
			snapshot, err := s.Load(t.Context())
			require.NoError(t, err)
			require.Len(t, snapshot.Resources, 2)
		}
	}
}

// Changes that a service accepts and does not save stay on this machine, and the next command sends them.
func TestWhatIsNotSavedIsNotLost(t *testing.T) {
	for name, can := range map[string]servicetest.Options{"journal": {Journal: true}, "delta": {Delta: true}, "whole": {}} {
		server, b := open(t, can, nil)
		s := made(t, b)
		_, _, err := faultyOperation(t, s, "one")
		require.NoError(t, err)
		server.Inject(servicetest.Fault{Call: "PATCH update/", Status: 200, Body: answer("")})
		done, _, err := faultyOperation(t, s, "two")
		require.True(t, done)
		require.ErrorAs(t, err, new(*UnsentError), name)
		require.ErrorAs(t, err, new(*ContradictionError), name)
		server.Heal()
		again, err := b.Open(t.Context(), s.subject.Ref())
		require.NoError(t, err)
		snapshot, err := again.Load(t.Context())
		require.NoError(t, err)
		require.Len(t, snapshot.Resources, 2, name)
	}
}

// The same holds for an edit, whether the service reports success or returns a useless answer.
func TestEditsAreReadBack(t *testing.T) {
	for _, text := range []string{`{"updateId": "00000000-0000-0000-0000-000000000002"}`, `{}`, `<html>`} {
		server, b := open(t, servicetest.Options{}, nil)
		s := made(t, b)
		edited(t, s, safe("one", 1))
		l, err := s.Lock(t.Context(), backend.LockOptions{})
		require.NoError(t, err)
		server.Inject(servicetest.Fault{Call: "POST import", Status: 200, Body: answer(text)})
		base, err := s.Load(t.Context())
		require.NoError(t, err)
		next := *base
		next.Resources = append(next.Resources, safe("two", 1))
		err = s.Save(t.Context(), &next)
		require.ErrorAs(t, err, new(*UnsentError), text)
		require.NoError(t, l.Close())
		server.Heal()
		again, err := b.Open(t.Context(), s.subject.Ref())
		require.NoError(t, err)
		snapshot, err := again.Load(t.Context())
		require.NoError(t, err)
		require.Len(t, snapshot.Resources, 2, text)
	}
}

// A service that does not encrypt does not make a state unreadable: new secrets are encrypted on this machine until the
// service encrypts them.
func TestSecretsThatCannotBeOpenedAreNotRecorded(t *testing.T) {
	for _, batch := range []bool{false, true} {
		for _, call := range []string{"POST encrypt", "POST batch-encrypt", "POST decrypt", "POST crypt"} {
			for _, text := range []string{`{}`, `{"ciphertext": ""}`, `{"ciphertext": "YWJj", "plaintext": "YWJj"}`, `{"ciphertexts": ["YWJj"], "plaintexts": {"YWJj": "YWJj"}}`} {
				server, b := open(t, servicetest.Options{Journal: true, Batch: batch}, nil)
				s := made(t, b)
				server.Inject(servicetest.Fault{Call: call, Status: 200, Body: answer(text)})
				_, _, err := faultyOperation(t, s, "one")
				server.Heal()
				other, openErr := Open(t.Context(), b.core.options)
				require.NoError(t, openErr)
				opened, openErr := other.Open(t.Context(), s.subject.Ref())
				require.NoError(t, openErr)
				snapshot, loadErr := opened.Load(t.Context())
				require.NoError(t, loadErr, "%s: %s", call, text)
				require.NotNil(t, snapshot)
				require.Len(t, snapshot.Resources, 1, "%s: %s: %v", call, text, err)
				require.NoError(t, other.Close())
				if err != nil {
					require.ErrorAs(t, err, new(*UnsentError))
				}
			}
		}
	}
}

// Order, references, times and ciphertexts do not make two states differ; values and resources do.
func TestSavedStatesAreComparedByWhatCounts(t *testing.T) {
	const sig = `"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"`
	a := `{"urn": "a", "id": "1", "inputs": {"n": 1, "s": {` + sig + `, "ciphertext": "x"}}, "outputs": {}, "modified": "2026-01-01"}`
	b := `{"urn": "b", "dependencies": ["a"]}`
	state := func(all ...string) []byte {
		text := `{"manifest": {}, "resources": [`
		for i, r := range all {
			if i > 0 {
				text += ","
			}
			text += r
		}
		return []byte(text + `]}`)
	}
	digests := func(text []byte) digests {
		require.True(t, json.Valid(text), string(text))
		d, err := digestsOf(text)
		require.NoError(t, err)
		return d
	}
	want := digests(state(a, b))
	require.Equal(t, 2, want.count())
	require.Equal(t, want, digests(state(`{"urn": "b"}`, `{"urn": "a", "id": "1", "inputs": {"s": {`+sig+`, "ciphertext": "y"}, "n": 1.0}}`)))
	for i, other := range [][]byte{
		state(a), state(a, b, b), state(a, `{"urn": "b", "id": "2"}`), state(a, `{"urn": "b", "delete": true}`), state(a, `{"urn": "b", "inputs": {"x": 1}}`),
		state(a, `{"urn": "b", "protect": true}`), []byte("null"),
	} {
		require.NotEqual(t, want, digests(other), fmt.Sprint(i))
	}
}
