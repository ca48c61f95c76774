package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-iac/sluice/pipeline/await"
)

// Address is the address of a Temporal server that others run.
type Address struct {
	Host, Namespace string
	TLS             bool
	CA, Cert, Key   string // files
	ServerName      string
	APIKey          string
}

// Options returns the options of clients of the server.
func (a Address) Options() (client.Options, error) {
	o := client.Options{HostPort: a.Host, Namespace: a.Namespace}
	if a.APIKey != "" {
		o.Credentials = client.NewAPIKeyStaticCredentials(a.APIKey)
	}
	if !a.TLS && a.APIKey == "" && a.CA == "" && a.Cert == "" {
		return o, nil
	}
	t := &tls.Config{ServerName: a.ServerName, MinVersion: tls.VersionTLS12}
	if a.CA != "" {
		text, err := os.ReadFile(a.CA)
		if err != nil {
			return o, fmt.Errorf("--tls-ca: %w", err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(text) {
			return o, fmt.Errorf("--tls-ca: %s has no certificate in PEM", a.CA)
		}
	}
	if a.Cert != "" || a.Key != "" {
		pair, err := tls.LoadX509KeyPair(a.Cert, a.Key)
		if err != nil {
			return o, fmt.Errorf("--tls-cert and --tls-key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	o.ConnectionOptions.TLS = t
	return o, nil
}

// Connect connects with a server. Payloads pass through the converter.
func Connect(ctx context.Context, o client.Options, c converter.DataConverter, f converter.FailureConverter, logger log.Logger) (client.Client, error) {
	o.DataConverter, o.FailureConverter, o.Logger = c, f, logger
	var asked atomic.Bool // whether the server requires a client certificate, of which there is none
	if t := o.ConnectionOptions.TLS; t != nil && len(t.Certificates) == 0 {
		o.ConnectionOptions.TLS = t.Clone()
		o.ConnectionOptions.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked.Store(true)
			return &tls.Certificate{}, nil
		}
	}
	within := 30 * time.Second
	if strings.HasPrefix(o.HostPort, ownScheme) {
		within = patience // it is started again
	}
	connecting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		is, err := client.DialContext(connecting, o)
		if err == nil {
			return is, nil
		}
		// A server that starts, or restarts, answers soon.
		if !IsPassing(err) || isDistrust(err) || await.For(connecting, time.Second) != nil {
			err = fmt.Errorf("the Temporal server at %s: %w", strings.TrimPrefix(o.HostPort, ownScheme), err)
			if asked.Load() {
				err = fmt.Errorf("%w; it asks for a client certificate: give one with --tls-cert and --tls-key", err)
			}
			return nil, err
		}
	}
}

// isDistrust reports whether a connection failed because one side does not accept the certificate of the other, which does not pass by itself. gRPC
// has only a text for that.
func isDistrust(err error) bool {
	text := err.Error()
	return strings.Contains(text, "tls: failed to verify certificate") || strings.Contains(text, "tls: certificate required")
}

// IsPassing reports whether an error of a server may be temporary: it does not answer, or lacks something that will come, such as a worker or its own
// services. Errors about the request itself are not.
func IsPassing(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var of serviceerror.ServiceError
	code := codes.OK
	if errors.As(err, &of) {
		code = of.Status().Code()
	} else if s, is := codeOf(err); is {
		code = s
	}
	switch code {
	// A server also returns FailedPrecondition if no worker has connected since it began.
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Internal, codes.Unknown, codes.Aborted, codes.Canceled, codes.FailedPrecondition:
		return true
	}
	var failed *serviceerror.QueryFailed
	return errors.As(err, &failed)
}

// codeOf returns the code of an error of gRPC that Temporal's client has not converted to a service error.
func codeOf(err error) (codes.Code, bool) {
	var of interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &of) {
		return codes.OK, false
	}
	return of.GRPCStatus().Code(), true
}

// Persist makes a call until it succeeds, fails with an error that is not temporary, or the time is over. It may repeat a call that has succeeded
// without an answer.
func Persist(ctx context.Context, within time.Duration, call func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := call(waiting)
		if err == nil || ctx.Err() != nil || !IsPassing(err) {
			return err
		}
		if await.For(waiting, time.Second) != nil {
			return err
		}
	}
}

// Patience is how long to wait for a server that does not answer.
const Patience = 30 * time.Minute

// answers reports whether the server of a folder answers.
func answers(ctx context.Context, h Home) bool {
	asking, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	o := (&trust{home: h, role: Client}).options()
	o.Logger = Silent{}
	c, err := client.DialContext(asking, o)
	if err != nil {
		return false
	}
	defer c.Close()
	_, err = c.WorkflowService().DescribeNamespace(asking, describe())
	return err == nil
}

// Silent is a logger that keeps nothing.
type Silent struct{}

// Debug implements [log.Logger].
func (Silent) Debug(string, ...any) {}

// Info implements [log.Logger].
func (Silent) Info(string, ...any) {}

// Warn implements [log.Logger].
func (Silent) Warn(string, ...any) {}

// Error implements [log.Logger].
func (Silent) Error(string, ...any) {}

func describe() *workflowservice.DescribeNamespaceRequest {
	return &workflowservice.DescribeNamespaceRequest{Namespace: Namespace}
}
