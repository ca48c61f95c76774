package operation

import (
	"context"
	"fmt"
	"time"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/stages/standard"
)

// programGrace limits how long a program may take to end by itself after the run is over. After an interrupt it is interruptedGrace,
// because the caller may not wait long: the Automation API for Go kills a command after ten seconds, and a lock stays.
const programGrace, interruptedGrace = 30 * time.Second, 3 * time.Second

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
	s.run.HaltIfProgramFailed()
	return out
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
