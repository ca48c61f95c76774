package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/sluice-iac/sluice/advice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/internal/text/syntax"
	"github.com/sluice-iac/sluice/providers/plugin/install"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

// Session is a project with its backend.
type Session struct {
	Terminal    *terminal.Terminal
	Project     *workspace.Project
	Backend     backend.Backend
	BackendURL  string
	Selection   stateworkspace.Selection
	Home        string // Pulumi's home directory
	FullNames   bool   // show stacks with their organization and project
	Passphrases secrets.Source

	provider string // the secrets provider of a stack that the user makes at a question; "" is the default
	nowhere  error  // why there is no project; nil if there is one
}

// Open opens an existing stack. Its settings are not read.
func (s *Session) Open(ctx context.Context, ref backend.Ref) (*Stack, error) {
	stack, err := s.Backend.Open(ctx, ref)
	var missing *backend.NotFoundError
	if errors.As(err, &missing) {
		err = missingError(ctx, s, ref, missing)
	}
	if err != nil {
		return nil, err
	}
	return &Stack{Session: s, Ref: ref, State: stack}, nil
}

// Resolve returns the stack that name refers to.
func (s *Session) Resolve(name string) (backend.Ref, error) {
	ref, err := s.Backend.Resolve(name)
	if err != nil {
		return backend.Ref{}, exit.AsUsage(err)
	}
	return ref, nil
}

// Choose returns the stack that name refers to, or the selected stack if name is "".
func (s *Session) Choose(name string) (backend.Ref, error) {
	if name == "" {
		selected, err := s.Selected()
		if err != nil {
			return backend.Ref{}, err
		}
		name = selected
	}
	if name == "" && s.nowhere != nil {
		return backend.Ref{}, unnamed(s.nowhere)
	}
	if name == "" {
		return backend.Ref{}, errNoStack
	}
	return s.Resolve(name)
}

// unnamed adds advice to the error of a command that has no project and no name of a stack.
func unnamed(noProject error) error {
	return fmt.Errorf("%w, or name a stack with --stack organization/<project>/<stack>", noProject)
}

var errNoStack = exit.NoStackf("no stack selected; please use `sluice stack select` or `sluice stack init`, or name one with --stack")

// NameOf returns the name of a stack as used in the project, or the full one if FullNames is set.
func (s *Session) NameOf(ref backend.Ref) string {
	if s.FullNames {
		return ref.String()
	}
	return ref.Display(s.Project.Name, s.Backend.Organization())
}

// Selected returns the name of the stack that commands use without --stack, "" if none is selected.
func (s *Session) Selected() (string, error) {
	if name := s.Terminal.Env("PULUMI_STACK"); name != "" {
		return name, nil
	}
	return s.Selection.Stack()
}

// Forget clears the selection if ref is selected.
func (s *Session) Forget(ref backend.Ref) error {
	name, err := s.Selection.Stack()
	if err != nil || name == "" {
		return err
	}
	if selected, err := s.Backend.Resolve(name); err != nil || selected != ref {
		return nil // another stack is selected, or the selection is invalid here
	}
	return s.Selection.Clear()
}

// Owns reports whether the settings of a stack are in the folder of this project.
func (s *Session) Owns(ref backend.Ref) bool {
	return s.Project.HasFile() && (ref.Project == "" || ref.Project == s.Project.Name)
}

// foreign returns the error of a command that needs the project of a stack, in another project. Scripts look for its first words.
func (s *Session) foreign(ref backend.Ref) error {
	return exit.Usagef("provided project name %q doesn't match Pulumi.yaml, which says %q", ref.Project, s.Project.Name)
}

// of returns a session for a stack: s itself if it has the stack's project, else one without a project file.
func (s *Session) of(ref backend.Ref) *Session {
	if s.Owns(ref) {
		return s
	}
	other := *s
	other.Project, other.FullNames = workspace.NoFile(ref.Project), true
	return &other
}

// Credentials returns the known secrets of the command itself: passphrases, the password in the URL of the backend, the token of the login at the
// service, and the credentials of backends, key services and hosts of plugins in the environment.
func (s *Session) Credentials() []string {
	list := s.Passphrases.Used()
	names := append(cloud.CredentialVariables(), secrets.EnvPassphrase, service.EnvToken, install.EnvGitHubToken, install.EnvGitLabToken)
	for _, name := range names {
		text, set := s.Terminal.Lookup(name)
		if !set {
			continue
		}
		list = append(list, text)
		var members struct {
			PrivateKey string `json:"private_key"` // of Google's credentials
		}
		if json.Unmarshal([]byte(text), &members) == nil {
			list = append(list, members.PrivateKey)
		}
	}
	if service.Handles(s.BackendURL) {
		if account, err := stateworkspace.NewCredentials(s.Home, s.Terminal.Lookup).Account(service.Address(s.BackendURL)); err == nil {
			list = append(list, account.AccessToken)
		}
	}
	if u, err := url.Parse(s.BackendURL); err == nil {
		if password, set := u.User.Password(); set {
			list = append(list, password)
		}
	}
	return list
}

// Stack is an opened stack of a project.
type Stack struct {
	Session  *Session
	Ref      backend.Ref
	State    backend.Stack
	Settings *workspace.StackFile // nil until they have been read
}

// Name returns the stack's name as used in the project.
func (s *Stack) Name() string { return s.Session.NameOf(s.Ref) }

// Notes returns the notes of commands about the stack, which are in the user's own directory.
func (s *Stack) Notes(ctx context.Context) stateworkspace.Notes {
	return stateworkspace.NewNotes(s.Session.Home, s.Session.BackendURL, s.Ref.String(), filepath.Dir(s.State.File(ctx)))
}

// ReadSettings reads the settings from the file at path or, if path is empty, from the backend, or else from the stack's file. They are empty if
// the project has no file.
func (s *Stack) ReadSettings(path string) error {
	own := path == ""
	if own {
		path = s.Session.Project.StackFilePath(s.Ref.Name)
	}
	file, err := workspace.ReadStackFile(path, s.Session.Project.Name)
	if err == nil && own {
		file, err = s.orKept(file)
	}
	if err != nil {
		return err
	}
	for _, w := range file.Warnings {
		s.Session.Terminal.Warn("%s", w)
	}
	s.Settings = file
	return nil
}

// keeper is a stack whose backend can keep settings. It returns them in the form of a file, with the name of their environment, "" if it keeps
// none.
type keeper interface {
	KeptSettings() (file []byte, environment string, err error)
}

// orKept returns the settings kept in the backend, or those of the stack's file if there are none.
func (s *Stack) orKept(file *workspace.StackFile) (*workspace.StackFile, error) {
	k, is := s.State.(keeper)
	if !is {
		return file, nil
	}
	content, environment, err := k.KeptSettings()
	if err != nil || environment == "" {
		return file, err
	}
	if file.Exists() {
		s.Session.Terminal.Warn("%s is ignored: the settings of this stack are kept in the environment %s of the service", file.Path, environment)
	}
	return workspace.KeptSettings("the environment "+environment+" of the service", s.Session.Project.Name, content)
}

// RecallSettings takes the settings of a stack in a project elsewhere from its last operation (state.md 6.3). It changes no other settings, nor
// those from a file that the user has named.
func (s *Stack) RecallSettings(ctx context.Context) error {
	if s.Settings.Path != "" {
		return nil
	}
	updates, _, err := s.State.History(ctx)
	if err != nil || len(updates) == 0 {
		return err
	}
	values, err := workspace.RecordedSettings(s.Session.Project.Name, updates[0].Config)
	if err != nil {
		return err
	}
	return s.Settings.Replace(values)
}

// Pending returns the pending operations of the recorded state.
func (s *Stack) Pending(ctx context.Context) ([]state.Pending, error) {
	snapshot, err := s.State.LoadSealed(ctx)
	if err != nil || snapshot == nil {
		return nil, err
	}
	return snapshot.Pending, nil
}

// Stamp returns a text that differs between successive states of the stack, "" if it is unknown.
func (s *Stack) Stamp(ctx context.Context) string {
	revision, err := s.State.Revision(ctx)
	if err != nil {
		return ""
	}
	return revision
}

// Keys returns the source of the passphrase of the stack.
func (s *Stack) Keys() secrets.Source { return s.Session.Passphrases.For(s.Ref.Project, s.Ref.Name) }

// encryptedIn returns the file with the secrets provider of the stack.
func (s *Stack) encryptedIn(ctx context.Context) string {
	if s.Settings.Path == "" {
		return s.State.File(ctx)
	}
	return s.Settings.Path
}

// ChooseOrAsk is [Session.Choose] for commands that need a stack: if none is selected, a user at a terminal chooses or makes one, which is
// then selected.
func (s *Session) ChooseOrAsk(ctx context.Context, name string) (backend.Ref, error) {
	ref, err := s.Choose(name)
	if !errors.Is(err, errNoStack) || !s.Terminal.Interactive() {
		return ref, err
	}
	return s.AskForStack(ctx)
}

// AskForStack lets the user choose one of the stacks of the project, or make one, and selects it.
func (s *Session) AskForStack(ctx context.Context) (backend.Ref, error) {
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: s.Project.Name})
	if err != nil {
		return backend.Ref{}, err
	}
	answers := make([]string, len(stacks))
	for i, l := range stacks {
		answers[i] = s.NameOf(l.Ref)
	}
	answers = append(answers, "make a new stack")
	at := 0
	if len(stacks) > 0 {
		if at, err = terminal.Choose(ctx, s.Terminal, "Which stack?", answers, 0); err != nil {
			return backend.Ref{}, unanswered(err)
		}
	}
	if at < len(stacks) {
		ref := stacks[at].Ref
		return ref, s.Selection.Select(ref.String())
	}
	return s.askForNewStack(ctx)
}

func (s *Session) askForNewStack(ctx context.Context) (backend.Ref, error) {
	name, err := s.Terminal.Ask(ctx, "The name of the new stack (dev): ")
	if err != nil {
		return backend.Ref{}, err
	}
	made, err := Make(ctx, s, cmp.Or(name, "dev"), cmp.Or(s.provider, "default"), true)
	if err != nil {
		return backend.Ref{}, err
	}
	return made.Ref, nil
}

func unanswered(err error) error {
	if errors.Is(err, terminal.ErrInterrupted) {
		return exit.Cancelledf("no stack was chosen")
	}
	return err
}

// missingError completes the error for a stack that does not exist: with a stack of the same project that has a similar name, and advice.
func missingError(ctx context.Context, s *Session, ref backend.Ref, missing *backend.NotFoundError) error {
	name := s.NameOf(ref)
	return advice.With(withNearest(ctx, s, ref, name, missing), advice.Advice{Action: advice.MakeStack, Stack: name})
}

// withNearest adds a question with a similar name, if there is one. The text begins as before: scripts look for its first words.
func withNearest(ctx context.Context, s *Session, ref backend.Ref, name string, missing *backend.NotFoundError) error {
	stacks, err := s.Backend.Stacks(ctx, backend.Filter{Project: ref.Project})
	if err != nil {
		return missing // the stack is missing in any case
	}
	names := make([]string, len(stacks))
	for i, l := range stacks {
		names[i] = s.NameOf(l.Ref)
	}
	if near := syntax.Nearest(name, names); near != "" {
		return fmt.Errorf("%w; %s", missing, near)
	}
	return missing
}
