package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/stages/standard"
)

// programGrace limits how long a program may take to end by itself after the run is over. After an interrupt it is interruptedGrace,
// because the caller may not wait long: the Automation API for Go kills a command after ten seconds, and a lock stays.
const programGrace, interruptedGrace = 10 * time.Second, 3 * time.Second

// errProgramStays is the cause of ending a program that goes on after the run.
var errProgramStays = fmt.Errorf("the run was over, but the program did not end by itself within %v, and was ended; it may have "+
	"a thread or a server that keeps it alive", programGrace)

// program is the running program of an operation; nil if there is none.
type program struct {
	running conc.WaitGroup
	cancel  context.CancelCauseFunc
	over    context.CancelFunc // signals the program that the run is over
}

// ran is an operation whose program and pipeline, or whose import, are done, or were not begun because of an error.
type ran struct {
	program  *program          // nil if there is none
	assembly standard.Assembly // of the pipeline
	err      error
}

// run is the third phase: it runs the program and the pipeline until both are done, or runs the import.
func run(ctx context.Context, s *resolved) (out ran) {
	if s.imports != nil {
		s.run.EndOfProgram()
		out.err = caught("importing", func() error { return s.run.ImportAll(s.opened.operations, s.imports) })
		return out
	}
	out.err = caught("assembling the pipeline", func() (err error) {
		out.assembly, err = s.opened.settings.Assemble(s.run)
		return err
	})
	if out.err != nil {
		return out
	}
	p := &program{}
	var over context.Context
	over, p.over = context.WithCancel(s.opened.operations)
	var programCtx context.Context
	programCtx, p.cancel = context.WithCancelCause(s.opened.operations)
	s.opened.settings.OnInterrupt(func() {}, func() { p.cancel(nil) }) // a second interrupt does not wait for the program either
	p.running.Go(func() { s.runProgram(programCtx, ctx, over) })
	out.program, out.err = p, s.run.Unrecorded(out.assembly.Drain(s.run.Admitted(), out.assembly.Registrations))
	return out
}

// runProgram runs the program and informs the run. An error of the program after an interrupt is a consequence of it and not a
// failure. The end of the caller's context is an interrupt.
func (s *resolved) runProgram(ctx, caller, over context.Context) {
	if !s.opened.settings.RunsProgram() {
		s.run.EndOfProgram()
		return
	}
	var err error
	if p := panics.Try(func() {
		err = s.opened.settings.Program.Run(ctx, source.Host{
			Monitor: s.monitor(), MonitorService: s.server, Engine: s.opened.settings.Engine, Over: over,
		})
	}); p != nil {
		err = p.AsError() // with the stack trace: the program is the user's
	}
	switch {
	case err == nil:
		s.run.EndOfProgram()
	case s.opened.settings.Stopped(), caller.Err() != nil:
		s.run.Halt()
	case errors.Is(context.Cause(ctx), errProgramStays):
		s.run.ProgramFailed(errProgramStays, false)
	default:
		s.run.ProgramFailed(err, errors.Is(err, source.ErrReported))
	}
}

// await waits for the program after its run is over. It gives the program a grace period to end by itself.
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
