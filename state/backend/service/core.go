package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/internal/platform/private"
	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state"
	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/internal/layout"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
	"github.com/sluice-iac/sluice/state/store"
)

// core is the common part of all uses of a service: the client and account, and the files on this machine.
type core struct {
	options Options
	client  *api.Client
	can     await.Flight[struct{}, api.Capabilities]

	mu     sync.Mutex // guards the fields below
	keys   map[api.StackID]*keys
	copies map[string]*copies // by organization
}

func (c *core) host() string {
	u, err := url.Parse(c.client.URL())
	if err != nil {
		return "unknown" // the client was made for it
	}
	return u.Host
}

// capabilities returns the abilities of the service, after one call for them.
func (c *core) capabilities(ctx context.Context) (api.Capabilities, error) {
	return c.can.Do(ctx, struct{}{}, func() (api.Capabilities, error) { return c.client.Capabilities(ctx) })
}

// note gives the user a note.
func (c *core) note(format string, args ...any) {
	if c.options.Note != nil {
		c.options.Note(fmt.Sprintf(format, args...))
	}
}

// passphrases opens the secrets in states of the service.
func (c *core) passphrases() secrets.Source { return c.options.Passphrases.WithService(c.openKeys) }

// EnvConsole is the variable with the host of the service's console.
const EnvConsole = "PULUMI_CONSOLE_DOMAIN"

// page is an address in the console of the service, "" if the console is not known.
func (c *core) page(parts ...string) string {
	u, err := url.Parse(c.client.URL())
	if err != nil {
		return ""
	}
	rest, isAPI := strings.CutPrefix(u.Host, "api.")
	console, _ := c.options.lookup()(EnvConsole)
	switch {
	case console != "":
		u.Host = console
	case isAPI:
		u.Host = "app." + rest
	default:
		return ""
	}
	return u.JoinPath(parts...).String()
}

// copiesOf returns the working copies of an organization.
func (c *core) copiesOf(ctx context.Context, organization string) (*copies, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.copies[organization]; known != nil {
		return known, nil
	}
	root := filepath.Join(c.options.Home, "sluice", "service", strings.ReplaceAll(c.host(), ":", "_"), organization)
	if err := private.MkdirAll(root, private.Folder); err != nil {
		return nil, err
	}
	o := c.options.Options
	o.URL, o.Stores, o.Renamed = "file://"+root, nil, nil
	o.Passphrases = c.options.Passphrases.WithService(func(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
		m, err := c.openKeys(ctx, p)
		if err != nil {
			return nil, err
		}
		return c.shelter(m), nil
	})
	o.Environment = nil // variables about self-managed backends do not count here
	files, err := backend.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	made := &copies{files: files, dir: store.NewDir(root)}
	c.copies[organization] = made
	return made, nil
}

func (c *core) copyOf(ctx context.Context, ref backend.Ref) (workingCopy, error) {
	all, err := c.copiesOf(ctx, ref.Organization())
	return workingCopy{all, layout.Stack{Project: ref.Project, Name: ref.Name}}, err
}

func newKeys(b *core, s api.StackID) *keys {
	raw, err := json.Marshal(keyState{
		URL: b.client.URL(), Owner: s.Organization, Project: s.Project, Stack: s.Name, Insecure: b.client.Insecure(),
	})
	if err != nil {
		panic(err) // a struct of texts always marshals
	}
	return &keys{
		backend: b, stack: s, provider: &state.SecretsProvider{Type: secrets.TypeService, State: raw}, turns: await.NewSlots(turns),
		plain: map[string]string{}, ready: map[string][]string{}, there: map[string]string{},
	}
}

// keysOf returns the keys of a stack, the same ones each time.
func (c *core) keysOf(s api.StackID) *keys {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.keys[s]
	if k == nil {
		k = newKeys(c, s)
		c.keys[s] = k
	}
	return k
}

// openKeys returns the manager that a state names. After a rename, states still have the old name of the stack.
func (c *core) openKeys(ctx context.Context, p *state.SecretsProvider) (secrets.Manager, error) {
	var s keyState
	if err := json.Unmarshal(p.State, &s); err != nil {
		return nil, fmt.Errorf("the state of the service's secrets provider: %w", err)
	}
	if s.URL != "" && s.URL != c.client.URL() {
		m, err := secrets.FromState(ctx, p, c.options.Passphrases)
		if err != nil {
			err = fmt.Errorf("the secrets are encrypted by another service, %s; this one is %s: %w", backend.MaskURL(s.URL), c.client.URL(), err)
		}
		return m, err
	}
	k := c.keysOf(api.StackID{Organization: s.Owner, Project: s.Project, Name: s.Stack})
	if k.provider.Identity() != p.Identity() { // other bytes that mean the same
		return &recordedKeys{k, p}, nil
	}
	return k, nil
}

// required returns policy packs with their fetch functions.
func (c *core) required(packs []api.RequiredPolicy) []backend.RequiredPolicy {
	var all []backend.RequiredPolicy
	for _, p := range packs {
		all = append(all, backend.RequiredPolicy{
			Name: p.Name, Version: cmp.Or(p.VersionTag, strconv.Itoa(p.Version)), ID: fmt.Sprintf("%d %s", p.Version, p.VersionTag),
			Config: p.Config, Environments: p.Environments,
			Fetch: func(ctx context.Context) (io.ReadCloser, error) {
				return c.client.Download(ctx, p.Location)
			},
		})
	}
	return all
}

// shelter returns a manager for working copies, which can encrypt while the service is away.
func (c *core) shelter(m secrets.Manager) secrets.Manager {
	switch own := m.(type) {
	case *keys:
		return shelter{m, own}
	case *recordedKeys:
		return shelter{m, own.keys}
	}
	return m
}

// localKey returns the key of this machine for the stacks of an organization. The first call makes it.
func (c *core) localKey(ctx context.Context, organization string) (*secrets.Key, error) {
	all, err := c.copiesOf(ctx, organization)
	if err != nil {
		return nil, err
	}
	raw, _, err := all.dir.Read(ctx, shelterKey)
	if errors.Is(err, fs.ErrNotExist) {
		raw = secrets.NewRawKey()
		if _, err = all.dir.Write(ctx, shelterKey, raw, store.IfAbsent()); errors.Is(err, store.ErrConflict) {
			raw, _, err = all.dir.Read(ctx, shelterKey) // another process was faster
		}
	}
	if err != nil {
		return nil, err
	}
	k, err := secrets.NewKey(raw)
	if err != nil {
		err = fmt.Errorf("%s: %w", all.dir.Name(shelterKey), err)
	}
	return k, err
}

// delivered returns the text of a state, or of a part of one, with ciphertexts of the service in place of those of this machine. Equal ones stay
// equal.
func (c *core) delivered(ctx context.Context, p *state.SecretsProvider, text []byte) ([]byte, error) {
	if p == nil || p.Type != secrets.TypeService || !bytes.Contains(text, []byte(`"`+sheltered)) {
		return text, nil
	}
	m, err := c.openKeys(ctx, p)
	if err != nil {
		return nil, err
	}
	k, is := m.(*keys)
	if recorded, wrapped := m.(*recordedKeys); wrapped {
		k, is = recorded.keys, true
	}
	if !is {
		return text, nil
	}
	own := slices.DeleteFunc(secretsIn(text), func(sealed string) bool { return !strings.HasPrefix(sealed, sheltered) })
	there, err := k.deliver(ctx, own)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i, sealed := range own {
		pairs = append(pairs, `"`+sealed+`"`, `"`+there[i]+`"`)
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text))), nil
}
