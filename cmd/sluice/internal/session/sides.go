package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/workspace"
)

// Sides returns the place for what is kept beside the state of a stack. If its backend has none, as a service, it is in the user's own directory.
func Sides(ctx context.Context, s *Stack) backend.SideKeeper {
	if keeper, keeps := s.State.(backend.SideKeeper); keeps {
		return keeper
	}
	return noteKeeper{s.Notes(ctx)}
}

// noteKeeper keeps content of each kind as a note. Its name is the kind.
type noteKeeper struct{ notes workspace.Notes }

// ReadSide implements [backend.SideKeeper].
func (k noteKeeper) ReadSide(_ context.Context, kind backend.Side) (content []byte, revision string, err error) {
	content, err = k.notes.Read(string(kind))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	return content, fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// WriteSide implements [backend.SideKeeper].
func (k noteKeeper) WriteSide(ctx context.Context, kind backend.Side, content []byte, revision string) (replaced bool, err error) {
	_, now, err := k.ReadSide(ctx, kind)
	if err != nil || now != revision {
		return false, err
	}
	err = k.notes.Write(string(kind), content)
	return err == nil, err
}

// RemoveSide implements [backend.SideKeeper].
func (k noteKeeper) RemoveSide(_ context.Context, kind backend.Side) error {
	return k.notes.Remove(string(kind))
}
