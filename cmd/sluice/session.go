package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
)

// session is what a command works on: a project, a backend and, once one is chosen, a stack with its file.
type session struct {
	cli        *cli
	project    *workspace.Project
	backend    sluice.Backend
	backendURL string
	selection  sluice.Selection
	home       string // Pulumi's home directory
	source     sluice.Passphrases
	ref        sluice.StackRef
	stack      sluice.Stack // nil until one is opened or made
	file       *workspace.StackFile
}

// name is the stack's name as people write it in the project.
func (s *session) name() string { return s.ref.Display(s.project.Name) }

// findProject reads the project file of the working directory or of the nearest one above it.
func findProject() (*workspace.Project, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	path, err := workspace.FindProject(cwd)
	if err != nil {
		return nil, err
	}
	return workspace.ReadProject(path)
}

// openProject finds the project and opens its backend (state.md 4.1).
func (c *cli) openProject(ctx context.Context) (*session, error) {
	project, err := findProject()
	if err != nil {
		return nil, err
	}
	for _, w := range project.Warnings {
		c.Warn("%s", w)
	}
	var prompt sluice.PassphrasePrompt
	if c.Interactive() {
		prompt = terminal.AskPassphrase(c.Terminal)
	}
	s := &session{cli: c, project: project, source: sluice.NewPassphrases(c.Lookup, prompt).WithKeepers(cloud.Keepers())}
	if s.home, err = sluice.Home(c.Lookup); err != nil {
		return nil, err
	}
	if s.backendURL, err = sluice.BackendURL(s.home, project.BackendURL, c.Lookup); err != nil {
		return nil, err
	}
	s.selection = sluice.NewSelection(s.home, project.Name, project.Path, s.backendURL)
	s.backend, err = sluice.OpenBackend(ctx, sluice.BackendOptions{
		URL: s.backendURL, Project: project.Name, LookupEnv: c.Lookup, Passphrases: s.source, SkipIntegrity: c.disableIntegrityChecking,
		Stores: cloud.Stores(), Checkpoints: c.checkpoints, Note: func(text string) { c.Warn("%s", text) }, Undecided: c.warnUndecided,
		Renamed: s.follow,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openStack opens a project and one of its stacks: the named one, or the selected one. The stack file is read; whether
// the backend has the stack is checked.
func (c *cli) openStack(ctx context.Context, name, configFile string) (*session, error) {
	s, err := c.openState(ctx, name)
	if err != nil {
		return nil, err
	}
	return s, s.readFile(configFile)
}

// openState opens a stack without its settings, which no edit of a state needs.
func (c *cli) openState(ctx context.Context, name string) (*session, error) {
	s, err := c.openProject(ctx)
	if err != nil {
		return nil, err
	}
	ref, err := s.choose(name)
	if err != nil {
		return nil, err
	}
	return s, s.open(ctx, ref)
}

// open makes an existing stack the one of the session.
func (s *session) open(ctx context.Context, ref sluice.StackRef) error {
	stack, err := s.backend.Open(ctx, ref)
	if err == nil {
		s.ref, s.stack = ref, stack
	}
	return err
}

// choose resolves the name of a stack; "" is the selected one.
func (s *session) choose(name string) (sluice.StackRef, error) {
	if name == "" {
		selected, err := s.selected()
		if err != nil {
			return sluice.StackRef{}, err
		}
		name = selected
	}
	if name == "" {
		return sluice.StackRef{}, exit.NoStackf("no stack selected; please use `sluice stack select` or `sluice stack init`, or name one with --stack")
	}
	ref, err := s.backend.Resolve(name)
	if err != nil {
		return sluice.StackRef{}, exit.AsUsage(err)
	}
	return ref, nil
}

// selected is the name of the stack that commands without --stack use, "" for none.
func (s *session) selected() (string, error) {
	if name := s.cli.Env("PULUMI_STACK"); name != "" {
		return name, nil
	}
	return s.selection.Stack()
}

// forget selects nothing if ref is what was selected.
func (s *session) forget(ref sluice.StackRef) error {
	name, err := s.selection.Stack()
	if err != nil || name == "" {
		return err
	}
	if selected, err := s.backend.Resolve(name); err != nil || selected != ref {
		return nil // something else is selected, or what is means nothing here
	}
	return s.selection.Clear()
}

func (s *session) readFile(path string) error {
	if path == "" {
		path = s.project.StackFilePath(s.ref.Name)
	}
	file, err := workspace.ReadStackFile(path, s.project.Name)
	if err != nil {
		return err
	}
	for _, w := range file.Warnings {
		s.cli.Warn("%s", w)
	}
	s.file = file
	return nil
}

// secretsManager returns the manager for an operation that may write, and saves its parameters in the stack file when
// they are new (state.md 5.5).
func (s *session) secretsManager(ctx context.Context) (sluice.SecretsManager, error) {
	var recorded *sluice.SecretsProvider
	if s.stack != nil { // otherwise it is about to be made
		var err error
		if recorded, err = s.stack.SecretsProvider(ctx); err != nil {
			return nil, err
		}
	}
	choice, err := sluice.ChooseSecretsManager(ctx, sluice.SecretsSettings{
		Provider: s.file.SecretsProvider(), EncryptedKey: s.file.EncryptedKey(), Salt: s.file.EncryptionSalt(),
	}, recorded, s.source)
	if err != nil {
		return nil, s.secretsError(err)
	}
	if choice.Disagrees {
		s.cli.Warn("the state of %s is encrypted with other secrets parameters than %s names; it will be re-encrypted",
			s.name(), s.file.Path)
	}
	if choice.Save != nil {
		s.file.SetSecrets(choice.Save.Provider, choice.Save.EncryptedKey, choice.Save.Salt)
	}
	return choice.Manager, nil
}

func (s *session) secretsError(err error) error {
	if errors.Is(err, sluice.ErrIncorrectPassphrase) || errors.Is(err, sluice.ErrNoPassphrase) {
		return fmt.Errorf("get the secrets manager of stack '%s' (%s): %w", s.name(), s.file.Path, err)
	}
	return err
}

// configDecrypter returns what decrypts the stack file. Nothing is written.
func (s *session) configDecrypter(ctx context.Context) (workspace.Decrypter, error) {
	m, err := s.secretsManager(ctx)
	if err != nil {
		return nil, err
	}
	return m.Decrypter(), nil
}

// configEncrypter returns what encrypts for the stack file; saving the file saves new secrets parameters too.
func (s *session) configEncrypter(ctx context.Context) (workspace.Encrypter, error) {
	m, err := s.secretsManager(ctx)
	if err != nil {
		return nil, err
	}
	return m.Encrypter(), nil
}
