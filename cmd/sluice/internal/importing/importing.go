package importing

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/declarations"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/importfile"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/operate"
	"github.com/sluice-iac/sluice/stages"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/urn"
)

// Options define an import.
type Options struct {
	// Left is the file for the list of what is left; "" is a file with a name of its own in the working directory.
	Left string
	// Declare is nil if no declarations are written.
	Declare *declarations.Options
}

// Import is the import of a list of resources.
type Import struct {
	job      *operate.Job
	list     *importfile.File
	requests []stages.ImportRequest // in the order of the list
	names    importfile.Names
	options  Options

	urns      []urn.URN
	todo      []stages.ImportRequest // what the operation imports: the requests that the preview has found possible
	reasons   map[urn.URN]string     // why resources are not imported, as far as it is known
	performed bool                   // the operation has begun
}

// New returns the import of a list. requests are those of its entries, and names the variables of its resources.
func New(job *operate.Job, list *importfile.File, requests []stages.ImportRequest, names importfile.Names, o Options) *Import {
	i := &Import{job: job, list: list, requests: requests, names: names, options: o, todo: requests, reasons: map[urn.URN]string{}}
	for _, q := range requests {
		i.urns = append(i.urns, q.URN(job.Stack.Ref.Name, job.Stack.Session.Project.Name))
	}
	return i
}

// Run runs the import. If only some of the resources have been imported, it writes the others to a file, and returns an error.
func (i *Import) Run(ctx context.Context) error {
	if err := i.noteRecorded(ctx); err != nil {
		return err
	}
	i.job.Kind = operate.Import(nil)
	if len(i.requests) > 1 {
		i.job.Kind.Partial = i.goOn
	}
	i.job.Kind.Preview = func(e *sluice.Engine, ctx context.Context) (*sluice.Result, error) {
		return e.PreviewImport(ctx, i.requests...)
	}
	i.job.Kind.Perform = func(e *sluice.Engine, ctx context.Context) (*sluice.Result, error) {
		i.performed = true
		result, err := e.Import(ctx, i.todo...)
		i.learn(err)
		return result, err
	}
	if d := i.options.Declare; d != nil {
		i.job.AfterPreview = func(context.Context, *sluice.Result) error { return declarations.EnsureFile(d.File) }
		i.job.AfterOperation = func(ctx context.Context) error { return declarations.Write(ctx, i.job, i.requests, i.names, *d) }
	}
	err := operate.Run(ctx, i.job)
	if !i.performed || len(i.reasons) == 0 || len(i.requests) < 2 {
		return err
	}
	return i.leave(context.WithoutCancel(ctx), err)
}

// Performed reports whether the operation has begun, so that [Import.Run] has written what is left.
func (i *Import) Performed() bool { return i.performed }

// noteRecorded says how many resources of the list are recorded already.
func (i *Import) noteRecorded(ctx context.Context) error {
	if len(i.requests) < 2 {
		return nil // the preview shows it
	}
	live, err := i.live(ctx)
	if err != nil {
		return err
	}
	count, objects := 0, 0
	for at, q := range i.requests {
		if q.ID == "" {
			continue
		}
		objects++
		if r := live[i.urns[at]]; r != nil && (r.ID == q.ID || r.ImportID == q.ID) {
			count++
		}
	}
	if count > 0 {
		fmt.Fprintf(i.job.Terminal.Err, "%d of %s are in the state already and are not imported again\n", count, format.Resources(objects))
	}
	return nil
}

// live returns the recorded resources.
func (i *Import) live(ctx context.Context) (map[urn.URN]*state.Resource, error) {
	s, err := i.job.Stack.State.LoadSealed(ctx)
	if err != nil {
		return nil, err
	}
	out := map[urn.URN]*state.Resource{}
	for _, r := range state.Live(s) {
		out[r.URN] = r
	}
	return out, nil
}

// goOn leaves out what a preview has found impossible. It reports whether anything else is left to do, and says how that is done.
func (i *Import) goOn(r *sluice.Result, err error) (next string, can bool) {
	var failed *sluice.FailedError
	if !errors.As(err, &failed) || failed.Cause != nil || failed.Canceled || r == nil {
		return "", false
	}
	found := map[urn.URN]bool{}
	for _, s := range r.Steps() {
		found[s.URN] = true
	}
	i.learn(err)
	var todo []stages.ImportRequest
	objects := 0
	for at, q := range i.requests {
		u := i.urns[at]
		switch _, failed := i.reasons[u]; {
		case failed:
		case !found[u]:
			i.reasons[u] = "its parent or its provider cannot be imported"
		default:
			todo = append(todo, q)
			if q.ID != "" {
				objects++
			}
		}
	}
	if objects == 0 {
		clear(i.reasons)
		return "", false
	}
	i.todo = todo
	i.job.Kind.Noun = "import of the other " + format.Resources(len(todo))
	return fmt.Sprintf("the other %s can be imported; what fails is left out, and listed in a file", format.Resources(len(todo))), true
}

// learn notes why resources were not imported.
func (i *Import) learn(err error) {
	var failed *sluice.FailedError
	if !errors.As(err, &failed) || failed.Err == nil {
		return
	}
	for _, err := range failed.Err.WrappedErrors() {
		var f stages.Failure
		if errors.As(err, &f) && f.URN != "" && i.reasons[f.URN] == "" {
			i.reasons[f.URN] = i.job.Masked(f.Err.Error())
		}
	}
}

// leave writes the resources that are left to a file, and says so. err is the error of the operation; nil if all that it was to import has been.
func (i *Import) leave(ctx context.Context, err error) error {
	live, loadErr := i.live(ctx)
	if loadErr != nil {
		return errors.Join(err, loadErr)
	}
	left := map[urn.URN]string{}
	for _, u := range i.urns {
		switch reason, failed := i.reasons[u]; {
		case failed:
			left[u] = reason
		case live[u] == nil:
			left[u] = "the import ended before it, or its parent or its provider could not be imported"
		}
	}
	if len(left) == 0 {
		return err // what failed is not in the list
	}
	path, saveErr := i.list.Left(i.urns, left).Save(i.options.Left)
	if saveErr != nil {
		return errors.Join(err, saveErr)
	}
	was, are := "were", "They are"
	if len(left) == 1 {
		was, are = "was", "It is"
	}
	text := fmt.Sprintf(i.job.Terminal.Named("%d of %s %s not imported. %s in %s with the reasons; correct it, and import it with `sluice import --file %s`"),
		len(left), format.Resources(len(i.requests)), was, are, path, format.ShellQuote(path))
	if err != nil {
		fmt.Fprintln(i.job.Terminal.Err, text)
		return err
	}
	return &exit.Error{Status: exit.Failure, Err: errors.New(text)}
}
