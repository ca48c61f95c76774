package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/source"
)

// A program may take this long to end by itself after the run is over. After an interrupt it is less, because whoever has interrupted
// may not wait for long: the Automation API for Go kills what has not ended after ten seconds, and a lock stays.
const programGrace, interruptedGrace = 10 * time.Second, 3 * time.Second

// errProgramStays is why a program is ended that goes on when the run is over.
var errProgramStays = fmt.Errorf("the run was over, but the program did not end by itself within %v, and was ended; it may have "+
	"a thread or a server that keeps it alive", programGrace)

// program is the program of an operation while it runs; nil when there is none.
type program struct {
	running conc.WaitGroup
	cancel  context.CancelCauseFunc
	over    context.CancelFunc // tells the program that the run is over
}

// perform lets the program and the pipeline work until both are done, or runs the import.
func (s *resolved) perform(ctx context.Context) (*program, error) {
	if s.imports != nil {
		s.run.EndOfProgram()
		return nil, caught("importing", func() error { return s.run.ImportAll(s.operations, s.imports) })
	}
	if err := caught("assembling the pipeline", func() (err error) {
		s.assembly, err = s.Assemble(s.run)
		return err
	}); err != nil {
		return nil, err
	}
	p := &program{}
	var over context.Context
	over, p.over = context.WithCancel(s.operations)
	var programCtx context.Context
	programCtx, p.cancel = context.WithCancelCause(s.operations)
	s.OnInterrupt(func() {}, func() { p.cancel(nil) }) // whoever asks a second time waits for no program either
	p.running.Go(func() { s.runProgram(programCtx, ctx, over) })
	return p, s.run.Unrecorded(s.assembly.Drain(s.run.Admitted(), s.assembly.Registrations))
}

// runProgram runs the program to its end and informs the run. An error of the program after an interrupt is a consequence
// and not a failure. The end of the caller's context is an interrupt.
func (s *resolved) runProgram(ctx, caller, over context.Context) {
	if !s.RunsProgram() {
		s.run.EndOfProgram()
		return
	}
	var err error
	if p := panics.Try(func() {
		err = s.Program.Run(ctx, source.Host{
			Monitor: s.monitor(), MonitorService: s.server, Engine: s.Engine, Over: over,
		})
	}); p != nil {
		err = p.AsError() // with the stack: the program is the user's
	}
	switch {
	case err == nil:
		s.run.EndOfProgram()
	case s.Stopped(), caller.Err() != nil:
		s.run.Halt()
	case errors.Is(context.Cause(ctx), errProgramStays):
		s.run.ProgramFailed(errProgramStays, false)
	default:
		s.run.ProgramFailed(err, errors.Is(err, source.ErrReported))
	}
}

// await waits for the program after its run is over. It lets the program end by itself for a short time.
func (p *program) await(grace time.Duration) {
	if p == nil {
		return
	}
	p.over()
	patience := time.AfterFunc(grace, func() { p.cancel(errProgramStays) })
	defer patience.Stop()
	p.running.Wait()
	p.cancel(nil)
}
