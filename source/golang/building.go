package golang

import (
	"context"
	"errors"
	"sync"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/stages"
)

// building is a build in the background. Each run of the program calls wait, and its owner calls abandon in the end.
type building struct {
	work conc.WaitGroup
	end  context.CancelCauseFunc

	binary string // once work is done
	err    error

	mu  sync.Mutex // guards the rest
	log func(stages.LogMessage)
	// logged are the messages that came before somebody waited.
	logged []stages.LogMessage
}

// errAbandoned is the error of a build whose program is not run.
var errAbandoned = errors.New("the program is not run")

// begin calls build in a goroutine. ctx must not end before the run of the program.
func begin(ctx context.Context, build func(context.Context, func(stages.LogMessage)) (string, error)) *building {
	ctx, end := context.WithCancelCause(ctx)
	b := &building{end: end}
	b.work.Go(func() { b.binary, b.err = build(ctx, b.say) })
	return b
}

// say logs a message as soon as somebody waits.
func (b *building) say(m stages.LogMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		b.logged = append(b.logged, m)
		return
	}
	b.log(m)
}

// wait returns the executable. The end of ctx ends the build.
func (b *building) wait(ctx context.Context, log func(stages.LogMessage)) (string, error) {
	b.mu.Lock()
	for _, m := range b.logged {
		log(m)
	}
	b.logged, b.log = nil, log
	b.mu.Unlock()
	release := context.AfterFunc(ctx, func() { b.end(context.Cause(ctx)) })
	b.work.Wait()
	release()
	b.end(nil)
	if b.err == nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return b.binary, b.err
}

// abandon ends the build if it is under way, and its goroutine. It does nothing for nil.
func (b *building) abandon() {
	if b == nil {
		return
	}
	b.end(errAbandoned)
	b.work.Wait()
}
