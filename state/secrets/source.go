package secrets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
)

// The environment variables that give a passphrase ([state.md 5.2]).
//
// [state.md 5.2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#52-passphrase
const (
	EnvPassphrase     = "PULUMI_CONFIG_PASSPHRASE"
	EnvPassphraseFile = "PULUMI_CONFIG_PASSPHRASE_FILE"
)

// The sources of a passphrase for one stack, which precede the variables for all stacks: a variable whose name begins with EnvPrefix (see
// [VariableOf]), or the file <project>/<stack> in the directory that EnvDirectory names.
const (
	EnvPrefix    = "SLUICE_PASSPHRASE_"
	EnvDirectory = "SLUICE_PASSPHRASES_DIR"
)

// VariableOf returns the name of the variable with the passphrase of one stack: the project and the stack in capital letters, with "_" in place of
// every character except letters and digits. Names that differ only in such characters have the same variable.
func VariableOf(project, stack string) string {
	name := stack
	if project != "" {
		name = project + "_" + stack
	}
	return EnvPrefix + strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '_'
	}, name)
}

// ErrNoPassphrase is the error if there is no passphrase.
var ErrNoPassphrase = fmt.Errorf("passphrase must be set with %s or %s environment variables",
	EnvPassphrase, EnvPassphraseFile)

// Source provides passphrases, and keeps derived keys. The zero Source has no passphrase; make one with [NewSource] or
// [FixedSource].
type Source struct {
	lookup func(name string) (string, bool)
	prompt Prompt
	keys   *keyring
	stack  stackName // "" for no stack in particular

	derivation Derivation

	keepers map[string]KeeperOpener // by scheme
	service ServiceOpener           // nil where the backend is not the service
}

// ServiceOpener opens the manager of a state whose secrets the service encrypts.
type ServiceOpener func(ctx context.Context, p *state.SecretsProvider) (Manager, error)

// WithService returns the source with the opener for secrets that the service encrypts.
func (s Source) WithService(open ServiceOpener) Source {
	s.service = open
	return s
}

// Question is the purpose of a prompt.
type Question int

// The questions.
const (
	AskExisting Question = iota // the passphrase of an existing stack
	AskAgain                    // the same, after one that is wrong
	AskNew                      // a new passphrase, which is entered twice
)

// Prompt asks the user for a passphrase. stack is the name of the stack, as <project>/<stack>; "" for no stack in particular.
type Prompt func(ctx context.Context, q Question, stack string) (string, error)

// NewSource makes the source of a process: the variable PULUMI_CONFIG_PASSPHRASE if it is set, even to nothing; the
// file that PULUMI_CONFIG_PASSPHRASE_FILE names; the prompt, unless it is nil. lookup is [os.LookupEnv] or a stand-in.
// A derived key is kept for as long as the source, so that each is derived once.
func NewSource(lookup func(name string) (string, bool), prompt Prompt) Source {
	return Source{lookup: lookup, prompt: prompt, keys: &keyring{}, derivation: PBKDF2{}}
}

// WithDerivation returns the source with another derivation: tests that start thousands of processes use a cheap one.
func (s Source) WithDerivation(d Derivation) Source {
	s.derivation = d
	return s
}

// FixedSource always gives the same passphrase.
func FixedSource(passphrase string) Source {
	return NewSource(func(name string) (string, bool) { return passphrase, name == EnvPassphrase }, nil)
}

type stackName struct{ project, name string }

func (n stackName) String() string {
	if n.project == "" {
		return n.name
	}
	return n.project + "/" + n.name
}

// For returns the source for one stack: a passphrase for this stack alone precedes all others.
func (s Source) For(project, stack string) Source {
	s.stack = stackName{project, stack}
	return s
}

// NewPassphrase returns the passphrase for a new stack; the prompt asks for it twice.
func (s Source) NewPassphrase(ctx context.Context) (string, error) { return s.ask(ctx, AskNew) }

func (s Source) ask(ctx context.Context, q Question) (string, error) {
	text, ok, err := s.environment()
	if err != nil || ok {
		return text, err
	}
	if s.prompt == nil {
		return "", s.missing()
	}
	text, err = s.prompt(ctx, q, s.stack.String())
	if err != nil {
		return "", &PromptError{err}
	}
	return text, nil
}

// PromptError is the error if the user was asked for a passphrase and gave none. It means nothing for the secrets or
// states behind it.
type PromptError struct{ Err error }

// Error returns the text of the error that it wraps.
func (e *PromptError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the prompt.
func (e *PromptError) Unwrap() error { return e.Err }

// UnreadableError is the error if a file with a passphrase cannot be read. It means nothing for the secrets or states
// behind it.
type UnreadableError struct {
	Variable string // the variable that names the file or the directory
	Err      error
}

// Error names the variable.
func (e *UnreadableError) Error() string {
	return fmt.Sprintf("no passphrase can be read from what %s names: %v; correct the variable, or remove it", e.Variable, e.Err)
}

// Unwrap returns the error of the file or directory.
func (e *UnreadableError) Unwrap() error { return e.Err }

func (s Source) environment() (text string, ok bool, err error) {
	if s.lookup == nil {
		return "", false, nil
	}
	if text, ok, err = s.ofStack(); ok || err != nil {
		return text, ok, err
	}
	if text, ok := s.lookup(EnvPassphrase); ok {
		return text, true, nil
	}
	file, _ := s.lookup(EnvPassphraseFile)
	if file == "" {
		return "", false, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", false, &UnreadableError{EnvPassphraseFile, err}
	}
	return strings.TrimSpace(string(b)), true, nil
}

// ofStack returns the passphrase for this stack alone. An empty variable does not count.
func (s Source) ofStack() (text string, ok bool, err error) {
	if s.stack.name == "" {
		return "", false, nil
	}
	if text, ok := s.lookup(VariableOf(s.stack.project, s.stack.name)); ok && text != "" {
		return text, true, nil
	}
	dir, given := s.lookup(EnvDirectory)
	file := filepath.Join(s.stack.project, s.stack.name)
	if !given || dir == "" || !filepath.IsLocal(file) || s.stack.project != "" && filepath.Dir(file) != s.stack.project {
		return "", false, nil
	}
	root, err := os.OpenRoot(dir) // it does not follow a link that leads out of it
	if err != nil {
		return "", false, &UnreadableError{EnvDirectory, err}
	}
	defer func() { _ = root.Close() }()
	b, err := root.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, &UnreadableError{EnvDirectory, err}
	}
	return strings.TrimSpace(string(b)), true, nil
}

// Locked returns the error for a passphrase that is wrong, with the ways to set the right one. It wraps [ErrLocked].
func (s Source) Locked() error {
	if s.stack.name == "" {
		return ErrLocked
	}
	return fmt.Errorf("%w; for this stack alone, set %s, or put the passphrase into the file %s of the directory that %s names",
		ErrLocked, VariableOf(s.stack.project, s.stack.name), filepath.Join(s.stack.project, s.stack.name), EnvDirectory)
}

// missing returns the error for a passphrase without any source.
func (s Source) missing() error {
	if s.stack.name == "" {
		return ErrNoPassphrase
	}
	return fmt.Errorf("%w; for this stack alone, set %s, or put the passphrase into the file %s of the directory that %s names",
		ErrNoPassphrase, VariableOf(s.stack.project, s.stack.name), filepath.Join(s.stack.project, s.stack.name), EnvDirectory)
}

// asks reports whether the user would be asked for the passphrase of a salt.
func (s Source) asks(salt string) bool {
	if _, given, err := s.environment(); given || err != nil || s.prompt == nil {
		return false
	}
	_, known := s.keys.passphrase(salt)
	return !known
}

// MayAsk reports whether the user is asked for passphrases.
func (s Source) MayAsk() bool {
	_, given, err := s.environment()
	return !given && err == nil && s.prompt != nil
}

// key returns the key for a salt. After a wrong passphrase from the prompt, the user is asked again; a wrong one from
// another source is an error.
func (s Source) key(ctx context.Context, salt string, derive func(passphrase string) (*Key, error)) (*Key, error) {
	if s.keys != nil {
		s.keys.asking.Lock() // a second caller for the same passphrase waits and then finds it
		defer s.keys.asking.Unlock()
	}
	for q := AskExisting; ; q = AskAgain {
		_, given, err := s.environment()
		if err != nil {
			return nil, err
		}
		text, err := s.remembered(ctx, salt, q)
		if err != nil {
			return nil, err
		}
		k, err := s.keys.key(ctx, keyName{salt, text}, derive)
		if err == nil {
			s.keys.remember(salt, text)
			return k, nil
		}
		if given || !errors.Is(err, ErrIncorrectPassphrase) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// remembered returns the passphrase that has fitted this salt before, or the one from the source. q is the purpose of a prompt.
func (s Source) remembered(ctx context.Context, salt string, q Question) (string, error) {
	if text, ok := s.keys.passphrase(salt); ok {
		return text, nil
	}
	return s.ask(ctx, q)
}

// Used returns the passphrases that have opened secrets, sorted.
func (s Source) Used() []string {
	if s.keys == nil {
		return nil
	}
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	return slices.Sorted(maps.Values(s.keys.passphrases))
}

// Learn adds a passphrase for the secrets of a state, whose provider is p, if it fits them. It is for a state with another
// passphrase than the one from the source.
func (s Source) Learn(ctx context.Context, p *state.SecretsProvider, passphrase string) error {
	settings, _ := SettingsOf(p)
	if settings.Salt == "" {
		return nil
	}
	switch _, err := Open(ctx, settings.Salt, FixedSource(passphrase)); {
	case errors.Is(err, ErrIncorrectPassphrase):
		return nil
	case err != nil:
		return err
	}
	s.keys.remember(settings.Salt, passphrase)
	return nil
}

// WithKeepers returns the source with openers of key services, by the scheme of their URLs.
func (s Source) WithKeepers(keepers map[string]KeeperOpener) Source {
	s.keepers = keepers
	return s
}

func (s Source) override(url string) string {
	if s.lookup != nil {
		if other, ok := s.lookup(EnvCloudOverride); ok && other != "" {
			return other
		}
	}
	return url
}

func (s Source) keeper(url string) (KeeperOpener, error) {
	if open, ok := s.keepers[schemeOf(url)]; ok {
		return open, nil
	}
	if isCloud(url) {
		return nil, &UnsupportedProviderError{TypeCloud}
	}
	return nil, &UnknownProviderError{schemeOf(url)}
}

// withKeeper opens the key for one use.
func (s Source) withKeeper(ctx context.Context, url string, use func(Keeper) error) error {
	open, err := s.keeper(url)
	if err != nil {
		return err
	}
	lookup := s.lookup
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	keeper, err := open(ctx, url, lookup)
	if err != nil {
		return fmt.Errorf("the secrets provider %s: %w", url, err)
	}
	if err := errors.Join(use(keeper), keeper.Close()); err != nil {
		return fmt.Errorf("the secrets provider %s: %w", url, err)
	}
	return nil
}

func isCloud(url string) bool {
	for _, scheme := range cloudSchemes() {
		if strings.HasPrefix(url, scheme+"://") {
			return true
		}
	}
	return false
}

// check derives a key and makes sure that it is the right one.
func (s Source) check(ctx context.Context, salt []byte, proof string) func(passphrase string) (*Key, error) {
	return func(passphrase string) (*Key, error) {
		k, err := s.derive(passphrase, salt)
		if err != nil {
			return nil, err
		}
		if got, err := k.Decrypt(ctx, proof); err != nil || got != verifier {
			return nil, ErrIncorrectPassphrase
		}
		return k, nil
	}
}

func (s Source) derive(passphrase string, salt []byte) (*Key, error) {
	raw, err := s.derivation.Key(passphrase, salt)
	if err != nil {
		return nil, fmt.Errorf("derive a key from the passphrase: %w", err)
	}
	return NewKey(raw)
}

// keyring keeps derived keys: deriving one is slow on purpose.
type keyring struct {
	derived await.Flight[keyName, *Key]
	asking  sync.Mutex // held while a passphrase is asked for

	mu          sync.Mutex        // guards passphrases
	passphrases map[string]string // by salt
}

type keyName struct{ salt, passphrase string }

func (k *keyring) key(ctx context.Context, name keyName, derive func(string) (*Key, error)) (*Key, error) {
	if k == nil {
		return derive(name.passphrase)
	}
	return k.derived.Do(ctx, name, func() (*Key, error) { return derive(name.passphrase) })
}

func (k *keyring) remember(salt, passphrase string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.passphrases == nil {
		k.passphrases = map[string]string{}
	}
	k.passphrases[salt] = passphrase
}

func (k *keyring) passphrase(salt string) (string, bool) {
	if k == nil {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	text, ok := k.passphrases[salt]
	return text, ok
}
