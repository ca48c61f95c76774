package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"time"

	"go.temporal.io/server/common/rpc/encryption"
)

// certified is the name in the certificates of a server.
const certified = "sluice-fleet"

// newCertificate makes a certificate, with a key that stays in this process.
func newCertificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{certified}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		// The certificate lasts as long as the process; the clock of the machine does not matter.
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	text, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}, nil
}

// amongServices returns the TLS configuration between the services of this process: each shows a certificate whose key stays in this process. They
// need no tokens, although their ports on loopback are open to other users of the machine.
func amongServices() (*encryption.FixedTLSConfigProvider, error) {
	shown, err := newCertificate()
	if err != nil {
		return nil, err
	}
	is, err := x509.ParseCertificate(shown.Certificate[0])
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AddCert(is)
	mine := []tls.Certificate{shown}
	return &encryption.FixedTLSConfigProvider{
		InternodeServerConfig: &tls.Config{Certificates: mine, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known, MinVersion: tls.VersionTLS13},
		InternodeClientConfig: &tls.Config{Certificates: mine, RootCAs: known, ServerName: certified, MinVersion: tls.VersionTLS13},
	}, nil
}
