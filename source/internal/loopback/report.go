package loopback

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/peer"
)

// report warns of refused callers, and of callers that could not be identified, once for each kind.
type report struct {
	warn            func(message string)
	refused, untold sync.Once
}

func (r *report) add(err error) {
	if errors.As(err, new(*peer.UntoldError)) {
		r.untold.Do(func() {
			r.warn(fmt.Sprintf("other users of this machine can call the engine while it runs, because they cannot be recognized: %v", err))
		})
		return
	}
	r.refused.Do(func() {
		r.warn(fmt.Sprintf("somebody else has tried to call the engine and was refused: %v. Only processes of the user who runs "+
			"sluice, and of root, may call it. Further attempts are refused without a message", err))
	})
}
