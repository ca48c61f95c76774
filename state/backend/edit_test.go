package backend

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/state"
)

// editOf is to as an edit of what now was loaded from.
func editOf(now, to *state.Snapshot) *state.Snapshot {
	if now == nil {
		return to
	}
	next := *now
	next.Manifest, next.SecretsProvider, next.Resources, next.Pending = to.Manifest, to.SecretsProvider, to.Resources, to.Pending
	return &next
}

// edit makes a state that of the stack, as a state command does.
func edit(s Stack, to *state.Snapshot) (err error) {
	ctx := context.Background()
	l, err := s.Lock(ctx, LockOptions{Operation: "state"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	now, err := s.LoadSealed(ctx)
	if err != nil {
		return err
	}
	return s.Save(ctx, editOf(now, to))
}

// mustEdit is edit that succeeds.
func mustEdit(t testing.TB, s Stack, to *state.Snapshot) {
	t.Helper()
	require.NoError(t, edit(s, to))
}
