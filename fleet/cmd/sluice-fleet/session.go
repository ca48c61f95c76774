package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.temporal.io/sdk/client"

	"github.com/sluice-iac/sluice/fleet/seal"
	"github.com/sluice-iac/sluice/fleet/server"
	"github.com/sluice-iac/sluice/fleet/spec"
	"github.com/sluice-iac/sluice/fleet/watch"
)

// global are the flags of all commands.
type global struct {
	directory, file, sluice string
	variables               []string
	address                 server.Address
	metrics                 *metrics // nil unless they are enabled
}

func (g *global) add(f *pflag.FlagSet) {
	f.StringVarP(&g.directory, "cwd", "C", "", "run as if started in this directory")
	f.StringVarP(&g.file, "file", "f", spec.FileName, "the `file` that describes the fleet")
	f.StringArrayVar(&g.variables, "var", nil, "set a variable of fleet.yaml, as `name=value`; may be repeated")
	f.StringVar(&g.sluice, "sluice", "", "the sluice `program` to run; the one beside sluice-fleet or on PATH if not given")
	f.StringVar(&g.address.Host, "address", os.Getenv("SLUICE_FLEET_ADDRESS"), "the Temporal server, as `host:port` (SLUICE_FLEET_ADDRESS); one of its own if not given")
	f.StringVar(&g.address.Namespace, "namespace", or(os.Getenv("SLUICE_FLEET_NAMESPACE"), "default"), "the namespace on that server (SLUICE_FLEET_NAMESPACE)")
	tls, _ := strconv.ParseBool(os.Getenv("SLUICE_FLEET_TLS")) // an invalid value is false
	f.BoolVar(&g.address.TLS, "tls", tls, "use TLS for that server (SLUICE_FLEET_TLS); the default with an API key or a certificate")
	f.StringVar(&g.address.CA, "tls-ca", os.Getenv("SLUICE_FLEET_TLS_CA"), "a `file` with the authorities for the certificate of that server (SLUICE_FLEET_TLS_CA)")
	f.StringVar(&g.address.Cert, "tls-cert", os.Getenv("SLUICE_FLEET_TLS_CERT"), "a `file` with a certificate for this client (SLUICE_FLEET_TLS_CERT)")
	f.StringVar(&g.address.Key, "tls-key", os.Getenv("SLUICE_FLEET_TLS_KEY"), "a `file` with the key of that certificate (SLUICE_FLEET_TLS_KEY)")
	f.StringVar(&g.address.ServerName, "tls-server-name", os.Getenv("SLUICE_FLEET_TLS_SERVER_NAME"), "the `name` in the certificate of that server (SLUICE_FLEET_TLS_SERVER_NAME)")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// read reads fleet.yaml.
func (g *global) read() (*spec.Fleet, error) {
	if g.directory != "" {
		if err := os.Chdir(g.directory); err != nil {
			return nil, usagef("%v", err)
		}
		g.directory = ""
	}
	values := map[string]string{}
	for _, v := range g.variables {
		name, value, whole := strings.Cut(v, "=")
		if !whole {
			return nil, usagef("--var %s: write name=value", v)
		}
		values[name] = value
	}
	f, err := spec.Read(g.file, values)
	if errors.Is(err, os.ErrNotExist) {
		return nil, usagef("%v", err)
	}
	return f, err
}

// session is a fleet with the connection to its server.
type session struct {
	*global
	fleet  *spec.Fleet
	home   server.Home
	client *watch.Client
	works  client.Client  // for workers: on the fleet's own server, it has fewer rights
	joined *server.Joined // nil with --address
}

// connect reads fleet.yaml and connects with the server. It starts the fleet's own server unless that runs.
func (g *global) connect(ctx context.Context) (*session, error) {
	f, err := g.read()
	if err != nil {
		return nil, err
	}
	s := &session{global: g, fleet: f}
	if s.home, err = server.HomeOf(f.Root); err != nil {
		return nil, err
	}
	key, err := s.key(ctx)
	if err != nil {
		return nil, err
	}
	data, failures, err := seal.Converters(key)
	if err != nil {
		return nil, err
	}
	options, err := s.serverOptions(ctx)
	if err != nil {
		return nil, err
	}
	logger, err := openLog(s.home.Path("worker.log"))
	if err != nil {
		return nil, err
	}
	connect := func(o client.Options) (client.Client, error) {
		if s.metrics != nil {
			o.MetricsHandler = s.metrics.handler
		}
		return server.Connect(ctx, o, data, failures, logger)
	}
	c, err := connect(options)
	if err != nil {
		s.close()
		return nil, err
	}
	s.client = &watch.Client{Client: c, Namespace: options.Namespace, Data: data, Failures: failures}
	if s.works = c; s.joined != nil {
		if s.works, err = connect(s.joined.Options(server.Worker)); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// key returns the key that encrypts the data on the server.
func (s *session) key(ctx context.Context) (seal.Key, error) {
	var wrapped *seal.Wrapped
	if k := s.fleet.Key; k != nil {
		w := seal.Wrapped(*k)
		wrapped = &w
	}
	key, err := seal.ReadKey(ctx, os.LookupEnv, wrapped, s.home.Path("key"), s.address.Host == "")
	if err != nil {
		return nil, usagef("%v", err)
	}
	return key, nil
}

func (s *session) serverOptions(ctx context.Context) (client.Options, error) {
	if s.address.Host != "" {
		s.address.APIKey = os.Getenv("SLUICE_FLEET_API_KEY")
		o, err := s.address.Options()
		if err != nil {
			return o, usagef("%v", err)
		}
		return o, nil
	}
	var err error
	s.joined, err = server.Join(ctx, s.home, "server", "--data", s.fleet.Root)
	if err != nil {
		return client.Options{}, err
	}
	return s.joined.Options(server.Client), nil
}

func (s *session) close() {
	if s.works != nil && s.joined != nil {
		s.works.Close()
	}
	if s.client != nil {
		s.client.Close()
	}
	if s.joined != nil {
		_ = s.joined.Close() // the system releases the lock too
	}
}

// who returns the name of the user who gives a command, for approvals and histories.
func who() string {
	host, _ := os.Hostname()
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return fmt.Sprintf("%s@%s", filepath.Base(or(name, "somebody")), host)
}
