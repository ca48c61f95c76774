package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cloud"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/format"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service"
	stateworkspace "github.com/sluice-iac/sluice/state/backend/workspace"
	"github.com/sluice-iac/sluice/state/secrets"
)

func newStackMigrateCommand(open *session.Opener, stack *string) *cobra.Command {
	var f migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate <url>",
		Short: "Copy stacks to another backend",
		Long: "Copy the selected stack, or with --all every stack of the project, to the backend with that URL: the state, the tags,\n" +
			"and the selection. If the key of the secrets belongs to the old backend, secrets are encrypted with a new key, in the\n" +
			"state and in the configuration file. At the end, the command compares both states.\n" +
			"A stack there is replaced only if it has no resources or is the same, so an interrupted copy can be repeated.\n\n" +
			"The old stack stays as it is, with its history. Use only one of the two from then on.",
		Example: "  sluice stack migrate https://api.pulumi.com --all\n  sluice stack migrate file:///srv/states --secrets-provider passphrase",
		Args:    exactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if open.Terminal.AsPulumi {
				// Quotes around the last command would rename it to the one that is refused (terminal.Streams.Named).
				return exit.Usagef("Pulumi's `stack migrate URL` copies from that backend to the selected one, and sluice's the other way; select the backend " +
					"to copy from, and run sluice stack migrate URL")
			}
			return migrate(cmd.Context(), open, *stack, args[0], f)
		},
	}
	cmd.Flags().BoolVarP(&f.all, "all", "a", false, "copy every stack of the project")
	cmd.Flags().StringVar(&f.provider, "secrets-provider", "", "how secrets are encrypted in the new backend (default the present provider, if it can be used there)")
	cmd.Flags().StringVar(&f.organization, "organization", "", "the organization there; without it the default one")
	return cmd
}

type migrateFlags struct {
	all                    bool
	provider, organization string
}

// migration copies stacks from one backend to another.
type migration struct {
	Session   *session.Session
	to        backend.Backend
	selection stateworkspace.Selection // at the other backend
	flags     migrateFlags
}

func migrate(ctx context.Context, open *session.Opener, name, url string, f migrateFlags) error {
	s, err := open.Session(ctx)
	if err != nil {
		return err
	}
	if url == s.BackendURL {
		return exit.Usagef("the stacks are at %s already", backend.MaskURL(url))
	}
	if service.Handles(url) {
		url = service.Address(url)
	}
	to, err := host.OpenBackend(ctx, host.BackendOptions{
		URL: url, Project: s.Project.Name, LookupEnv: open.Terminal.Lookup, Passphrases: s.Passphrases, Stores: cloud.Stores(), Note: open.Terminal.WarnWith,
	})
	if err != nil {
		return err
	}
	m := migration{s, to, stateworkspace.NewSelection(s.Home, s.Project.Name, s.Project.Path, url), f}
	err = m.run(ctx, name)
	return errors.Join(err, to.Close())
}

func (m migration) run(ctx context.Context, name string) error {
	var refs []backend.Ref
	switch {
	case m.flags.all && name != "":
		return exit.Usagef("name a stack, or use --all")
	case m.flags.all:
		stacks, err := m.Session.Backend.Stacks(ctx, backend.Filter{Project: m.Session.Project.Name})
		if err != nil {
			return err
		}
		for _, l := range stacks {
			if l.Ref.Organization() == m.Session.Backend.Organization() {
				refs = append(refs, l.Ref)
			}
		}
	default:
		ref, err := m.Session.Choose(name)
		if err != nil {
			return err
		}
		refs = []backend.Ref{ref}
	}
	selected, err := m.Session.Selected()
	if err != nil {
		return err
	}
	current, _ := m.Session.Backend.Resolve(selected) // a selection that is invalid here selects nothing
	for _, ref := range refs {
		there, err := m.copy(ctx, ref)
		if err != nil {
			return fmt.Errorf("stack %s: %w", m.Session.NameOf(ref), err)
		}
		if ref == current {
			if err := m.selection.Select(there.String()); err != nil {
				return err
			}
		}
	}
	_, err = fmt.Fprintf(m.Session.Terminal.Out, m.Session.Terminal.Named("`sluice login %s` uses them from now on.\n"), backend.MaskURL(m.to.URL()))
	return err
}

// copy copies one stack, and returns its name there. The configuration file is written last.
func (m migration) copy(ctx context.Context, ref backend.Ref) (there backend.Ref, err error) {
	if !m.Session.Owns(ref) {
		return there, exit.Usagef("it belongs to another project; run this command in the folder of that one")
	}
	from, err := m.Session.Open(ctx, ref)
	if err != nil {
		return there, err
	}
	if err := from.ReadSettings(""); err != nil {
		return there, err
	}
	if from.Settings.Kept() {
		return there, fmt.Errorf("its settings are kept in %s, which another backend cannot open; `sluice stack export` and `sluice stack import` copy the state alone",
			from.Settings.Path)
	}
	lock, err := from.State.Lock(ctx, backend.LockOptions{Operation: "stack migrate"})
	if err != nil {
		return there, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	snapshot, err := from.State.Load(ctx)
	if err != nil {
		return there, err
	}
	if snapshot == nil {
		snapshot = &state.Snapshot{}
	}
	name := ref.Name
	if m.flags.organization != "" {
		name = m.flags.organization + "/" + ref.Project + "/" + ref.Name
	}
	if there, err = m.to.Resolve(name); err != nil {
		return there, err
	}
	next, err := m.chooseKey(ctx, from, snapshot, there)
	if err != nil {
		return there, err
	}
	to, err := m.to.Init(ctx, there, next.Manager)
	var exists *backend.ExistsError
	if errors.As(err, &exists) {
		to, err = m.to.Open(ctx, there)
	}
	if err != nil {
		return there, err
	}
	if err := next.rekey(ctx, from); err != nil {
		if exists != nil { // the settings may be those of the copy already
			return there, exists
		}
		return there, err
	}
	if err := put(ctx, to, next.Manager, snapshot); err != nil {
		return there, err
	}
	tags, err := from.State.Tags(ctx)
	if err != nil {
		return there, err
	}
	if len(tags) > 0 {
		err = to.EditTags(ctx, func(now map[string]string) {
			for name, value := range tags {
				if !strings.HasPrefix(name, "pulumi:") {
					now[name] = value
				}
			}
		})
	}
	if err == nil {
		err = from.Settings.Save()
	}
	if err == nil {
		_, err = fmt.Fprintf(m.Session.Terminal.Out, "Copied %s to %s at %s: %s, the same in both.\n", m.Session.NameOf(ref), there, backend.MaskURL(m.to.URL()), format.Resources(len(snapshot.Resources)))
	}
	return there, err
}

// key encrypts the secrets of a stack at the other backend.
type key struct {
	secrets.Manager
	settings secrets.Settings // its parameters in the configuration file
	decrypts workspace.Decrypter
	stays    bool // it encrypts them already
}

// chooseKey returns the key for the secrets at the other backend.
func (m migration) chooseKey(ctx context.Context, from *session.Stack, snapshot *state.Snapshot, there backend.Ref) (key, error) {
	present, err := session.SecretsManager(ctx, from)
	if err != nil {
		return key{}, err
	}
	usual, provider := m.to.DefaultSecrets(there), m.flags.provider
	used := from.Settings.HasSecrets() || snapshot.SecretsProvider != nil
	if provider == "" && present.Provider().Type != secrets.TypeService && (usual == nil || used) {
		return key{Manager: present, stays: true}, nil
	}
	next := key{Manager: usual, decrypts: present.Decrypter()}
	if usual == nil || provider != "" && provider != "default" {
		next.Manager, next.settings, err = secrets.NewManager(ctx, provider, m.Session.Passphrases.For(there.Project, there.Name))
	}
	return next, err
}

// rekey changes the settings of a stack for its new key. It does not save them.
func (k key) rekey(ctx context.Context, from *session.Stack) error {
	if k.stays {
		return nil
	}
	if from.Settings.HasSecrets() {
		if err := from.Settings.Reencrypt(ctx, k.decrypts, k.Encrypter()); err != nil {
			return err
		}
	}
	from.Settings.SetSecrets(k.settings.Provider, k.settings.EncryptedKey, k.settings.Salt)
	return nil
}

// put writes a state to a stack, and verifies the result. The stack must have no resources, or those of an earlier
// attempt: the same resources, with secrets under the same kind of key.
func put(ctx context.Context, to backend.Stack, key secrets.Manager, snapshot *state.Snapshot) (err error) {
	to = to.WithSecrets(key)
	lock, err := to.Lock(ctx, backend.LockOptions{Operation: "stack migrate"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	before, err := to.Load(ctx)
	if err != nil {
		return err
	}
	want, err := neutral(ctx, snapshot)
	if err != nil {
		return err
	}
	next := state.Snapshot{}
	if before != nil {
		next = *before
	}
	if len(next.Resources)+len(next.Pending) > 0 {
		there, err := neutral(ctx, before)
		if err != nil {
			return err
		}
		if p := before.SecretsProvider; !bytes.Equal(want, there) || p == nil || p.Type != key.Provider().Type {
			return &backend.ExistsError{Name: to.Ref().Name}
		}
	}
	next.Manifest, next.SecretsProvider = snapshot.Manifest, nil
	next.Resources, next.Pending, next.Metadata = snapshot.Resources, snapshot.Pending, snapshot.Metadata
	next.Snippets, next.Extensions = snapshot.Snippets, snapshot.Extensions
	if err := to.Save(ctx, &next); err != nil {
		return err
	}
	written, err := to.Load(ctx)
	if err != nil {
		return err
	}
	got, err := neutral(ctx, written)
	if err == nil && !bytes.Equal(want, got) {
		err = fmt.Errorf("the state of %s is not what was copied; remove that stack and report this", to.Ref())
	}
	return err
}

// neutral returns a state in a form that does not depend on the backend.
func neutral(ctx context.Context, s *state.Snapshot) ([]byte, error) {
	plain := state.Snapshot{}
	if s != nil {
		plain = *s
	}
	plain.Manifest, plain.SecretsProvider = state.Manifest{}, nil
	return state.NewEncoder(state.EncoderOptions{Plaintext: true}).Deployment(ctx, &plain)
}
