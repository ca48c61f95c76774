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

// trust is how a client reaches the server of a folder, wherever that is at the time of each connection. Nothing but the beginning of TLS is sent before the
// server has shown that it has the key of the certificate in the folder: whoever listens at the port of one that has died does not have it. It is safe for
// many goroutines.
type trust struct {
	home Home
	role Role

	mu    sync.Mutex // guards place
	place Place      // of the server whose certificate was checked last
}

// options returns the options of clients that reach the server in this way.
func (t *trust) options() client.Options {
	return client.Options{
		HostPort: ownScheme + certified, Namespace: Namespace,
		ConnectionOptions: client.ConnectionOptions{
			TLS: &tls.Config{
				// The certificate is compared with the one in the folder, which is more than to verify its names.
				InsecureSkipVerify: true, VerifyConnection: t.check, ServerName: certified, MinVersion: tls.VersionTLS13,
			},
			DialOptions: []grpc.DialOption{grpc.WithContextDialer(t.dial), grpc.WithPerRPCCredentials(t)},
		},
	}
}

// ownScheme begins the addresses that are not looked up: the folder has the address.
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
		return errors.New("who listens at the address of the fleet's server is not that server")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.place = now
	return nil
}

// GetRequestMetadata implements [google.golang.org/grpc/credentials.PerRPCCredentials]: gRPC calls it when there is a connection. The token is that of the
// server that was checked.
func (t *trust) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return map[string]string{"authorization": "Bearer " + t.place.Tokens[t.role]}, nil
}

// RequireTransportSecurity implements [google.golang.org/grpc/credentials.PerRPCCredentials].
func (t *trust) RequireTransportSecurity() bool { return true }
