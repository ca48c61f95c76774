package server

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"

	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
)

// trust connects a client with the server of a folder, and finds the server's address for each connection. Before the server has proved that it has
// the key of the certificate in the folder, only the beginning of TLS is sent, because another process may listen at the port of a dead server. It is
// safe for concurrent use.
type trust struct {
	home Home
	role Role

	mu    sync.Mutex // guards place
	place Place      // of the server whose certificate was last checked
}

// options returns the options of clients that reach the server in this way.
func (t *trust) options() client.Options {
	return client.Options{
		HostPort: ownScheme + certified, Namespace: Namespace,
		ConnectionOptions: client.ConnectionOptions{
			TLS: &tls.Config{
				// The comparison with the certificate in the folder is stricter than a verification of names.
				InsecureSkipVerify: true, VerifyConnection: t.check, ServerName: certified, MinVersion: tls.VersionTLS13,
			},
			DialOptions: []grpc.DialOption{grpc.WithContextDialer(t.dial), grpc.WithPerRPCCredentials(t)},
		},
	}
}

// ownScheme is the scheme of addresses that are not resolved, because the folder has the address.
const ownScheme = "passthrough:///"

func (t *trust) dial(ctx context.Context, _ string) (net.Conn, error) {
	now, err := t.home.place()
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialContext(ctx, "tcp", now.Address)
}

// check refuses a server that does not show the certificate in the folder.
func (t *trust) check(c tls.ConnectionState) error {
	now, err := t.home.place()
	if err != nil {
		return err
	}
	if len(c.PeerCertificates) == 0 || !now.shows(c.PeerCertificates[0].Raw) {
		return errors.New("another process listens at the address of the fleet's server")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.place = now
	return nil
}

// GetRequestMetadata implements [google.golang.org/grpc/credentials.PerRPCCredentials]: gRPC calls it after connecting. It returns the token of the
// server that was checked.
func (t *trust) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return map[string]string{"authorization": "Bearer " + t.place.Tokens[t.role]}, nil
}

// RequireTransportSecurity implements [google.golang.org/grpc/credentials.PerRPCCredentials].
func (t *trust) RequireTransportSecurity() bool { return true }
