package service

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/state/backend"
	"github.com/sluice-iac/sluice/state/backend/service/internal/api"
)

// Options define the use of the service.
type Options struct {
	backend.Options
	// Home is Pulumi's home directory, with the credentials file and the working copies.
	Home string
	// Patience is how long a call is repeated while the service is away; 0 means a minute. Lease is how long a lease lasts; 0 means the
	// default of the service. Renew is the time between renewals; 0 means a quarter of Lease.
	Patience, Lease, Renew time.Duration
}

// Handles reports whether a URL names a service.
func Handles(url string) bool {
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}

// Address returns the URL of a service in the form of credentials and states.
func Address(url string) string { return strings.TrimSuffix(url, "/") }

// EnvToken is the variable with the access token, and EnvPatience the one for [Options.Patience].
const (
	EnvToken = "PULUMI_ACCESS_TOKEN"
	// EnvNoJournal is the variable that selects checkpoints even for a service that takes journals.
	EnvNoJournal = "PULUMI_DISABLE_JOURNALING"
	EnvPatience  = "SLUICE_SERVICE_PATIENCE"
)

// TokenOf returns the access token of the environment, "" if it has none. White space around it, such as the end of a line, does not belong to
// it.
func TokenOf(lookup func(string) (string, bool)) string {
	token, _ := lookup(EnvToken)
	return strings.TrimSpace(token)
}

func (o Options) lookup() func(string) (string, bool) {
	if o.Environment == nil {
		return func(string) (string, bool) { return "", false }
	}
	return o.Environment
}

func newClient(o Options, token string, insecure bool) (*api.Client, error) {
	note := func(text string) {
		if o.Note != nil {
			o.Note(text)
		}
	}
	address := Address(o.URL)
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !isLoopback(u.Hostname()) {
		note(fmt.Sprintf("%s is called without encryption: everybody on the way can read the access token", address))
	}
	version := strings.TrimPrefix(o.Version, "sluice/")
	if text, _ := o.lookup()(EnvPatience); text != "" && o.Patience == 0 {
		var err error
		if o.Patience, err = time.ParseDuration(text); err != nil || o.Patience <= 0 {
			return nil, fmt.Errorf("the environment variable %s is %q: write how long calls of the service are repeated, such as 30s", EnvPatience, text)
		}
	}
	return api.New(api.Options{URL: address, Token: token, Insecure: insecure, Version: version, Note: note, Patience: o.Patience})
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}
