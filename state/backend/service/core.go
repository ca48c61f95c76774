package service

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
	"github.com/sluice-iac/sluice/state/secrets"
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
	return c.can.Do(ctx, struct{}{}, func() (api.Capabilities, error) { return c.client.Capabilities(context.WithoutCancel(ctx)) })
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
