package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/gofrs/flock"
	"github.com/sourcegraph/conc"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Joined is a use of a server. During a use, the server goes on, and is restarted if it dies.
type Joined struct {
	Place
	home  Home
	args  []string // to start the server
	users *flock.Flock
	stop  context.CancelFunc
	watch conc.WaitGroup
}

const (
	// patience limits how long a server may take to start.
	patience = 2 * time.Minute
	// restart is the time between two attempts to start a server.
	restart = 5 * time.Second
)

// Join uses the server of a folder. If none runs, it starts one, with the executable of this process and the
// arguments.
func Join(ctx context.Context, h Home, args ...string) (*Joined, error) {
	j := &Joined{home: h, args: args, users: h.usersLock()}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := j.users.TryRLockContext(waiting, 20*time.Millisecond); err != nil {
		return nil, fmt.Errorf("the lock of the fleet's folder %s: %w", h.directory, err)
	}
	var last error // about the place, which may be that of a former server
	for begun := (time.Time{}); ; {
		running, err := j.runs()
		if err == nil && running {
			if j.Place, last = h.place(); last == nil && answers(waiting, h) {
				break
			}
		}
		// A server that was started may have died before it had the lock.
		if err == nil && !running && time.Since(begun) > restart {
			begun, err = time.Now(), j.start()
		}
		if err != nil {
			return nil, errors.Join(err, j.users.Unlock())
		}
		if await.For(waiting, 50*time.Millisecond) != nil {
			err := fmt.Errorf("the server of the fleet does not answer: %s says why", h.path("server.log"))
			if last != nil && !errors.Is(last, os.ErrNotExist) {
				err = last
			}
			return nil, errors.Join(err, j.users.Unlock())
		}
	}
	watched, stop := context.WithCancel(context.WithoutCancel(ctx))
	j.stop = stop
	j.watch.Go(func() { j.keep(watched) })
	return j, nil
}

// Close ends the use.
func (j *Joined) Close() error {
	j.stop()
	j.watch.Wait()
	return j.users.Unlock()
}

// runs reports whether a server has the lock of the folder.
func (j *Joined) runs() (bool, error) {
	lock := j.home.serverLock()
	free, err := lock.TryLock()
	if err != nil {
		return false, fmt.Errorf("the lock of the fleet's server: %w", err)
	}
	if free {
		return false, lock.Unlock()
	}
	return true, nil
}

// keep restarts the server when it has died.
func (j *Joined) keep(ctx context.Context) {
	for await.For(ctx, time.Second) == nil {
		if running, err := j.runs(); err == nil && !running {
			_ = j.start() // the next iteration tries again
			_ = await.For(ctx, restart)
		}
	}
}

// start starts a server that outlives this process. If another one runs, it ends by itself.
func (j *Joined) start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(j.home.path("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c := exec.Command(self, j.args...)
	c.Stdout, c.Stderr, c.Dir = log, log, j.home.directory
	alone(c)
	if err := c.Start(); err != nil {
		return fmt.Errorf("start the server of the fleet: %w", err)
	}
	return c.Process.Release()
}

// Options returns the options of clients of the server of a folder in a role.
func (j *Joined) Options(role Role) client.Options {
	return (&trust{home: j.home, role: role}).options()
}
