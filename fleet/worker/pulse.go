package worker

import (
	"context"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"go.temporal.io/sdk/activity"

	"github.com/sluice-iac/sluice/fleet/run"
	"github.com/sluice-iac/sluice/pipeline/await"
)

// beat begins to send heartbeats.
func beat(ctx context.Context, worker string) *pulse {
	beating, stop := context.WithCancel(ctx)
	p := &pulse{stop: stop, now: run.Progress{Worker: worker}}
	p.wg.Go(func() {
		for {
			activity.RecordHeartbeat(ctx, p.progress())
			if await.For(beating, time.Second) != nil {
				return
			}
		}
	})
	return p
}

// pulse sends heartbeats until it is stopped.
type pulse struct {
	mu   sync.Mutex // guards now
	now  run.Progress
	stop context.CancelFunc
	wg   conc.WaitGroup
}

func (p *pulse) progress() run.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *pulse) set(now run.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now.Worker = p.now.Worker
	p.now = now
}

func (p *pulse) end() {
	p.stop()
	p.wg.Wait()
}
