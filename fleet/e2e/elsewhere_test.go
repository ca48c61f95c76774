package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/rpc/encryption"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/temporaltest"

	"github.com/sluice-iac/sluice/fleet/server"
)

// authority issues certificates.
type authority struct {
	t    *testing.T
	is   *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.is = &x509.Certificate{Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	pair := a.issue(a.is)
	var err error
	a.is, err = x509.ParseCertificate(pair.Certificate[0])
	require.NoError(t, err)
	a.key = pair.PrivateKey.(*ecdsa.PrivateKey)
	a.pool.AddCert(a.is)
	return a
}

// issue issues a certificate. The first one is that of the authority.
func (a *authority) issue(c *x509.Certificate) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	by := key
	if a.key != nil {
		by = a.key
	}
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	text, err := x509.CreateCertificate(rand.Reader, c, a.is, key.Public(), by)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}
}

func (a *authority) named(name string) tls.Certificate {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
}

// savePair writes a certificate and its key.
func (p *place) savePair(name string, pair tls.Certificate) {
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(p.t, err)
	p.write(map[string]string{
		"../" + name + ".pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})),
		"../" + name + ".key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
	})
}

const apiKey = "an-api-key"

// keyed gives all rights to clients with the API key, and to the server itself.
type keyed struct{}

func (keyed) GetClaims(a *authorization.AuthInfo) (*authorization.Claims, error) {
	if a.AuthToken == "Bearer "+apiKey || a.TLSSubject != nil && a.TLSSubject.CommonName == "system" {
		return &authorization.Claims{System: authorization.RoleAdmin}, nil
	}
	return nil, errors.New("the API key is missing")
}

// A server other than the fleet's own requires a certificate and an API key, and has namespaces.
func TestAFleetUsesAServerOfSomebodyElse(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	system := a.named("system")
	s := temporaltest.NewServer(temporaltest.WithT(t), temporaltest.WithBaseServerOptions(
		temporal.WithTLSConfigFactory(&encryption.FixedTLSConfigProvider{
			FrontendServerConfig: &tls.Config{Certificates: []tls.Certificate{a.named("temporal.example.com")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool},
			FrontendClientConfig: &tls.Config{Certificates: []tls.Certificate{system}, RootCAs: a.pool, ServerName: "temporal.example.com"},
		}),
		temporal.WithAuthorizer(authorization.NewDefaultAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return keyed{} }),
	))
	p := newPlace(t, three())
	p.savePair("authority", tls.Certificate{Certificate: [][]byte{a.is.Raw}, PrivateKey: a.key})
	p.savePair("ada", a.named("ada"))
	p.env = append(p.env, "SLUICE_FLEET_ADDRESS="+s.GetFrontendHostPort(), "SLUICE_FLEET_NAMESPACE="+s.GetDefaultNamespace(), "SLUICE_FLEET_API_KEY="+apiKey,
		"SLUICE_FLEET_KEY="+strings.TrimSpace(p.fleet("key")))
	with := []string{"--tls-ca", "../authority.pem", "--tls-cert", "../ada.pem", "--tls-key", "../ada.key"}
	require.Contains(t, p.fleet(append([]string{"up", "--yes"}, with...)...), "3 succeeded")
	require.NoFileExists(t, p.path(".sluice-fleet/temporal.db"))
	require.NoFileExists(t, p.path(".sluice-fleet/key"))
	require.Contains(t, p.fleet(append([]string{"status"}, with...)...), "succeeded  web")

	// The server gets the search attributes of runs.
	o, err := server.Address{
		Host: s.GetFrontendHostPort(), Namespace: s.GetDefaultNamespace(), APIKey: apiKey, CA: p.path("../authority.pem"), Cert: p.path("../ada.pem"), Key: p.path("../ada.key"),
	}.Options()
	require.NoError(t, err)
	c, err := server.Connect(t.Context(), o, converter.GetDefaultDataConverter(), sdk.GetDefaultFailureConverter(), server.Silent{})
	require.NoError(t, err)
	defer c.Close()
	attributes := map[string]enumspb.IndexedValueType{}
	for _, name := range server.SearchAttributes {
		attributes[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	_, err = c.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{Namespace: o.Namespace, SearchAttributes: attributes})
	require.NoError(t, err)
	require.Contains(t, p.fleet(append([]string{"preview"}, with...)...), "3 unchanged")
	require.Contains(t, p.fleet(append([]string{"preview", "--force"}, with...)...), "3 succeeded")
	require.Eventually(t, func() bool {
		found, err := c.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: o.Namespace, Query: "SluiceFleet = 'shop' AND SluiceOperation = 'preview' AND SluiceStack = 'web'",
		})
		return err == nil && len(found.GetExecutions()) == 1
	}, longest, time.Second)

	// Each is refused at once.
	var refused sync.WaitGroup
	for name, c := range map[string]struct {
		env  []string
		args []string
		want string
	}{
		"another key":       {[]string{"SLUICE_FLEET_API_KEY=guessed"}, with, "unauthorized"},
		"another namespace": {[]string{"SLUICE_FLEET_NAMESPACE=other"}, with, "other"},
		"no authority":      {nil, with[2:], "certificate signed by unknown authority"},
		"no certificate":    {nil, with[:2], "it asks for a client certificate: give one with --tls-cert and --tls-key"},
		"another name":      {nil, append([]string{"--tls-server-name", "example.org"}, with...), "not example.org"},
		"another fleet key": {[]string{"SLUICE_FLEET_KEY=" + strings.Repeat("A", 43) + "="}, with, "all machines need the same key"},
	} {
		q := *p
		q.env = append(p.env[:len(p.env):len(p.env)], c.env...)
		refused.Go(func() {
			out, status := q.run(append([]string{"sluice", "fleet", "status"}, c.args...)...)
			assert.NotZero(t, status, "%s: %s", name, out)
			assert.Contains(t, out, c.want, name)
			assert.NoFileExists(t, p.path(".sluice-fleet/temporal.db"), name)
		})
	}
	refused.Wait()
}
