package operate

import (
	"context"
	"log/slog"
	"slices"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/archives"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/environments"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/pending"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/property/redact"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Job is a prepared operation on a stack.
type Job struct {
	Stack    *session.Stack
	Terminal *terminal.Terminal
	Kind     Kind
	Flags    *flags.Operation
	Creates  pending.Answers // how interrupted creates are resolved

	// AfterPreview is called after a successful preview that no operation follows. It may be nil.
	AfterPreview func(context.Context, *sluice.Result) error
	// AfterOperation is called after the operation, even if it failed, while the lock is held. It may be nil.
	AfterOperation func(context.Context) error

	values  map[workspace.Key]workspace.Value // the settings
	config  sluice.Config                     // the settings in the form of the engine
	secrets secrets.Manager                   // nil if no secret is needed
	// environments are those of the stack; nil if it has none.
	environments *environments.Opened
	plan         *state.Plan       // the plan that the phases are held to; nil allows everything
	predicted    map[string]change // of the outputs of other stacks, by the names of the stacks
	remarks      *remarks
	archives     *archives.Contents // of recorded archive files; nil if archives are compared by their bytes
	// installer installs missing plugins. It remembers failed installations.
	installer *install.Installer
	// described is the origin of the operation, nil until it is needed, and title the title of the program's commit.
	described map[string]string
	title     string
	known     redact.Set // the secrets to mask in texts; the engine adds to them
}

// runsProgram reports whether the operation runs the program.
func (j *Job) runsProgram() bool { return j.Kind.NeedsProgram || j.Flags.Program.Run }

// masks returns the secrets to mask in texts, nil if secrets are shown.
func (j *Job) masks() *redact.Set {
	if j.Flags.Display.ShowSecrets() {
		return nil
	}
	return &j.known
}

// Masked returns a text without the secrets that are to be masked.
func (j *Job) Masked(text string) string { return j.masks().Mask(text) }

// minCredential is the length in bytes from which a credential is masked. Shorter passphrases are words of local stacks,
// which occur in messages by chance.
const minCredential = 8

// learnCredentials adds the passphrases, keys and tokens that the command itself uses to the secrets: programs and plugins
// have them in their environment. The name of the project or of the stack is not treated as a secret.
func (j *Job) learnCredentials() {
	names := []string{j.Stack.Session.Project.Name, j.Stack.Ref.Name}
	for _, c := range j.Stack.Session.Credentials() {
		if len(c) >= minCredential && !slices.Contains(names, c) {
			j.known.Add(c)
		}
	}
}

// PackageSettings returns the settings of a package in the stack: those of its default provider. Their secrets are masked from then on.
func (j *Job) PackageSettings(pkg string) property.Map {
	settings := j.config.PackageInputs(pkg)
	j.known.Learn(settings)
	return settings
}

// Learn masks the secrets in properties from now on.
func (j *Job) Learn(m property.Map) { j.known.Learn(m) }

// Beforehand calls f before the operation, with the variables and files of the environments of the stack. Its error contains no secret.
func (j *Job) Beforehand(ctx context.Context, f func(context.Context) error) error {
	restore, err := j.environments.Apply()
	if err != nil {
		return err
	}
	defer restore()
	j.learnCredentials()
	return j.masks().Error(f(ctx))
}

// PluginOptions defines how plugins are found and started for a job. directory is the program's directory.
func PluginOptions(j *Job, directory string) host.PluginOptions {
	s := j.Stack
	options := host.PluginOptions{
		Directory: directory, Project: s.Session.Project.Name, RuntimeOptions: map[string]string{}, Config: j.config,
		Home: s.Session.Home, LookupEnv: j.Terminal.Lookup, Warn: func(message string) { j.Terminal.Warn("%s", message) },
		Log: slog.New(j.masks().Handler(j.Terminal.Log.Handler())), NoBuiltins: j.Flags.Program.NoBuiltins, Note: j.remarks.note,
		ProjectPlugins: session.ProjectPlugins(s.Session.Project), ProjectPackages: session.ProjectPackages(s.Session.Project), Installer: j.installer, InstallLate: j.Flags.Program.InstallLate,
		Debug: j.Flags.Program.Debug.Debug, LogFlags: j.Terminal.PluginFlags,
	}
	for name, v := range s.Session.Project.RuntimeOptions {
		if !workspace.IsObject(v) {
			options.RuntimeOptions[name] = workspace.Text(v)
		}
	}
	return options
}
