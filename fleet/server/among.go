package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"time"

	"go.temporal.io/server/common/rpc/encryption"
)

// amongServices returns how the services of this process talk to each other: each shows a certificate whose key nobody else has. They ask for no token, and
// their ports are on loopback, which other users of the machine reach, too.
func amongServices() (encryption.TLSConfigProvider, error) {
	const name = "sluice-fleet"
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		// It ends with the process; the clock of the machine does not matter.
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC),
	}
	text, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if is, err = x509.ParseCertificate(text); err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AddCert(is)
	mine := []tls.Certificate{{Certificate: [][]byte{text}, PrivateKey: key}}
	return &encryption.FixedTLSConfigProvider{
		InternodeServerConfig: &tls.Config{Certificates: mine, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known, MinVersion: tls.VersionTLS13},
		InternodeClientConfig: &tls.Config{Certificates: mine, RootCAs: known, ServerName: name, MinVersion: tls.VersionTLS13},
	}, nil
}
