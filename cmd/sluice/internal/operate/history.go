package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/provenance"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/state/backend"
)

// begin reports the beginning of a phase to the backend.
func begin(ctx context.Context, o *operation, preview bool) (backend.Run, error) {
	j := o.job
	config, err := historyConfig(j)
	if err != nil {
		return nil, err
	}
	if !preview {
		describe(ctx, j) // before the program can change the working copy
	}
	p, kind := j.Stack.Session.Project, j.Kind.History
	if preview && j.Flags.Confirmation.PreviewOnly && kind == Update().History {
		kind = "preview"
	}
	return j.Stack.State.Begin(ctx, backend.Operation{
		Kind: kind, Preview: preview, Config: config, Describe: func(ctx context.Context) (string, map[string]string) { return describe(ctx, j) },
		Program: backend.Program{Name: p.Name, Runtime: p.Runtime, Main: p.Main, Description: p.Description}, OnLost: o.lost,
	})
}

// end reports the end of a phase. An operation, unlike a preview, is recorded in the history, and the state is backed up (state.md 4.7, 4.8).
func end(ctx context.Context, j *Job, run backend.Run, preview bool, started time.Time, r *sluice.Result, runErr error) error {
	text, err := historyConfig(j)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // an interrupted operation is recorded like any other
	entry := backend.Update{
		Kind: j.Kind.History, StartTime: started.Unix(), EndTime: time.Now().Unix(), Config: text, Result: backend.ResultSucceeded,
	}
	if entry.Keep, err = keptHistory(j); err != nil {
		return err
	}
	if !preview {
		entry.Message, entry.Environment = describe(ctx, j)
	}
	if runErr != nil {
		entry.Result = backend.ResultFailed
	}
	if r != nil {
		entry.ResourceChanges = make(map[string]int, len(r.Changes))
		for op, n := range r.Changes {
			entry.ResourceChanges[string(op)] = n
		}
	}
	return run.End(ctx, entry)
}

// keptHistory returns how many operations the history keeps, or an error for a wrong setting.
func keptHistory(j *Job) (int, error) {
	n, err := backend.KeptHistory(j.config[backend.HistoryKey].Text)
	if err != nil {
		return 0, exit.AsUsage(err)
	}
	return n, nil
}

// historyConfig returns the settings in the form of the history.
func historyConfig(j *Job) (json.RawMessage, error) {
	config := make(map[string]any, len(j.values))
	for k, v := range j.values {
		config[k.String()] = workspace.JSONForm(v)
	}
	return json.Marshal(config)
}

// describe returns the message of an operation, by default the title of the commit, and a description of its origin and its call. The description
// contains no values of variables that could be secret.
func describe(ctx context.Context, j *Job) (message string, environment map[string]string) {
	if j.described == nil {
		root := "" // stays "" if the project of the stack is elsewhere
		if j.Stack.Session.Project.HasFile() {
			root = j.Stack.Session.Project.Directory()
		}
		j.described, j.title = provenance.Of(ctx, root, j.Terminal.Lookup)
	}
	f := j.Flags
	env := maps.Clone(j.described)
	maps.Copy(env, f.History.Caller())
	env["sluice.version"] = sluice.Version
	if f.Plan.File != "" {
		env["updatePlan"] = "true"
	}
	if runtime := j.Stack.Session.Project.Runtime; runtime != "" {
		env["runtime.name"] = runtime
	}
	if names, err := j.Stack.Settings.Environments.Names(); err == nil && len(names) > 0 {
		env[keyEnvironments] = idsOf(names)
	}
	if j.archives != nil {
		if text := j.archives.Text(); text != "" {
			env[keyArchives] = text
		}
	}
	for name, on := range map[string]bool{
		"skip-preview": f.Confirmation.SkipPreview, "yes": f.Confirmation.Yes, "diff": f.Display.Diff(), "continue-on-error": f.Run.ContinueOnError,
	} {
		if on {
			env["pulumi.flag."+name] = strconv.FormatBool(on)
		}
	}
	return cmp.Or(f.History.Message, j.title), env
}

// keyEnvironments is the key of the history for the environments of an operation.
const keyEnvironments = "stack.environments"

// environmentID is an environment in the history.
type environmentID struct {
	ID string `json:"id"`
}

// idsOf returns the names of environments in the form of the history.
func idsOf(names []string) string {
	var list []environmentID
	for _, name := range names {
		list = append(list, environmentID{name})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "" // texts always marshal
	}
	return string(text)
}

// EnvironmentsOf returns the names of the environments of an operation, from its description in the history.
func EnvironmentsOf(environment map[string]string) []string {
	var list []environmentID
	if json.Unmarshal([]byte(environment[keyEnvironments]), &list) != nil {
		return nil // it had none
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.ID
	}
	return names
}
