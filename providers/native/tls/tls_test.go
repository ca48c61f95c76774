package tls_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	"github.com/sluice-iac/sluice/providers/native/tls"
	"github.com/sluice-iac/sluice/testing/nodesdk"
	"github.com/sluice-iac/sluice/testing/tier"
	"github.com/sluice-iac/sluice/urn"
)

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

// clock is a clock that a test sets.
type clock struct{ now time.Time }

func stack(t *testing.T, name string) (*nativetest.Stack, *clock) {
	c := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	typ := urn.Type("tls:index/" + string(name[0]|0x20) + name[1:] + ":" + name)
	return nativetest.New(t, tls.At(func() time.Time { return c.now }), typ, native.Options{}), c
}

func plain(m property.Map, name string) string { return m.At(name).StripSecrets().AsString() }

func der(t *testing.T, text, kind string) []byte {
	block, rest := pem.Decode([]byte(text))
	require.NotNil(t, block, text)
	require.Equal(t, kind, block.Type)
	require.Empty(t, rest)
	return block.Bytes
}

func TestThePublicPackageIsMatched(t *testing.T) {
	tier.Slow(t, "npm packages")
	modules := "../../../source/nodejs/testdata/program"
	require.NoError(t, nodesdk.Install(modules))
	nativetest.RequireDeclared(t, tls.Package(native.Options{}), modules, "@pulumi/tls")
}

func TestKeysAreReadByTheStandardLibrary(t *testing.T) {
	cases := map[string]struct {
		in    property.Map
		kind  string
		check func(t *testing.T, key any)
	}{
		"RSA": {props("algorithm", "RSA", "rsaBits", 1024), "RSA PRIVATE KEY", func(t *testing.T, key any) {
			require.Equal(t, 1024, key.(*rsa.PrivateKey).N.BitLen())
		}},
		"ECDSA": {props("algorithm", "ECDSA", "ecdsaCurve", "P384"), "EC PRIVATE KEY", func(t *testing.T, key any) {
			require.Equal(t, "P-384", key.(*ecdsa.PrivateKey).Params().Name)
		}},
		"ECDSA by default": {props("algorithm", "ECDSA"), "EC PRIVATE KEY", func(t *testing.T, key any) {
			require.Equal(t, "P-224", key.(*ecdsa.PrivateKey).Params().Name)
		}},
		"ED25519": {props("algorithm", "ED25519"), "PRIVATE KEY", func(t *testing.T, key any) {
			require.IsType(t, ed25519.PrivateKey{}, key)
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, _ := stack(t, "PrivateKey")
			out := s.Create(c.in)
			key, err := x509.ParsePKCS8PrivateKey(der(t, plain(out, "privateKeyPemPkcs8"), "PRIVATE KEY"))
			require.NoError(t, err)
			c.check(t, key)
			der(t, plain(out, "privateKeyPem"), c.kind)
			for _, secret := range []string{"privateKeyPem", "privateKeyPemPkcs8", "privateKeyOpenssh"} {
				require.True(t, out.At(secret).IsSecret(), secret)
			}
			_, err = x509.ParsePKIXPublicKey(der(t, plain(out, "publicKeyPem"), "PUBLIC KEY"))
			require.NoError(t, err)
			require.Regexp(t, `^[0-9a-f]{40}$`, s.ID)
			s.RequireSame(c.in)
			s.RequireUnchanged()

			got, err := s.Invoke("tls:index/getPublicKey:getPublicKey", props("privateKeyPem", out.At("privateKeyPem")))
			require.NoError(t, err)
			require.Equal(t, c.in.At("algorithm").AsString(), got.At("algorithm").AsString())
			require.Equal(t, s.ID, got.At("id").AsString())
			require.Equal(t, plain(out, "publicKeyOpenssh"), got.At("publicKeyOpenssh").AsString())
			require.True(t, got.At("privateKeyPem").IsSecret())
			if plain(out, "privateKeyOpenssh") == "" {
				require.Equal(t, "ECDSA by default", name)
				return
			}
			signer, err := ssh.ParsePrivateKey([]byte(plain(out, "privateKeyOpenssh")))
			require.NoError(t, err)
			require.Equal(t, plain(out, "publicKeyOpenssh"), string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
			require.Equal(t, plain(out, "publicKeyFingerprintSha256"), ssh.FingerprintSHA256(signer.PublicKey()))
			again, err := s.Invoke("tls:index/getPublicKey:getPublicKey", props("privateKeyOpenssh", out.At("privateKeyOpenssh")))
			require.NoError(t, err)
			require.Equal(t, plain(got, "publicKeyPem"), plain(again, "publicKeyPem"))
		})
	}
}

func TestInputsOfKeysAreChecked(t *testing.T) {
	s, _ := stack(t, "PrivateKey")
	require.Equal(t, "algorithm", s.Refused(props())[0].Property)
	require.Equal(t, "algorithm", s.Refused(props("algorithm", "DSA"))[0].Property)
	require.Equal(t, "ecdsaCurve", s.Refused(props("algorithm", "ECDSA", "ecdsaCurve", "P1"))[0].Property)
	s.Create(props("algorithm", "ED25519"))
	s.RequireReplace(props("algorithm", "ECDSA", "ecdsaCurve", "P256"), "algorithm", "ecdsaCurve")
	_, err := s.Invoke("tls:index/getPublicKey:getPublicKey", props())
	require.ErrorContains(t, err, "exactly one")
	require.True(t, s.Preview(props("algorithm", "RSA")).At("privateKeyPem").IsSecret())
	require.ErrorContains(t, s.TryImport(s.ID), "cannot be imported")
	require.NoError(t, s.Delete())
}

// key makes a key and returns it as PEM.
func key(t *testing.T) string {
	s, _ := stack(t, "PrivateKey")
	return plain(s.Create(props("algorithm", "ECDSA", "ecdsaCurve", "P256")), "privateKeyPem")
}

func subject(pairs ...any) property.Value { return property.Of(props(pairs...)) }

func TestChainOfCertificatesIsVerifiedByTheStandardLibrary(t *testing.T) {
	caKey, serverKey := key(t), key(t)
	ca, _ := stack(t, "SelfSignedCert")
	caIn := props("privateKeyPem", caKey, "isCaCertificate", true, "validityPeriodHours", 100, "setAuthorityKeyId", true,
		"allowedUses", []string{"cert_signing"}, "maxPathLength", 1,
		"subject", subject("commonName", "CA", "organization", "Org", "emailAddress", "a@example.com"))
	caOut := ca.Create(caIn)
	require.True(t, caOut.At("privateKeyPem").IsSecret())
	require.False(t, caOut.At("certPem").IsSecret())
	ca.RequireSame(caIn)
	ca.RequireUnchanged()

	req, _ := stack(t, "CertRequest")
	reqIn := props("privateKeyPem", serverKey, "dnsNames", []string{"server.example.com"}, "ipAddresses", []string{"127.0.0.1"},
		"uris", []string{"spiffe://x/y"}, "subject", subject("commonName", "server", "streetAddresses", []string{"a", "b"}))
	reqOut := req.Create(reqIn)
	req.RequireSame(reqIn)
	asked, err := x509.ParseCertificateRequest(der(t, plain(reqOut, "certRequestPem"), "CERTIFICATE REQUEST"))
	require.NoError(t, err)
	require.NoError(t, asked.CheckSignature())
	require.Equal(t, []string{"a", "b"}, asked.Subject.StreetAddress)
	require.Equal(t, "ECDSA", reqOut.At("keyAlgorithm").AsString())

	leaf, c := stack(t, "LocallySignedCert")
	leafOut := leaf.Create(props("caCertPem", caOut.At("certPem"), "caPrivateKeyPem", caKey, "certRequestPem", reqOut.At("certRequestPem"),
		"validityPeriodHours", 10, "allowedUses", []string{"server_auth", "digital_signature"}))
	cert, err := x509.ParseCertificate(der(t, plain(leafOut, "certPem"), "CERTIFICATE"))
	require.NoError(t, err)
	require.Equal(t, leaf.ID, cert.SerialNumber.String())
	require.Equal(t, []string{"server.example.com"}, cert.DNSNames)
	require.Equal(t, "spiffe://x/y", cert.URIs[0].String())
	require.Equal(t, x509.KeyUsageDigitalSignature, cert.KeyUsage)
	require.Equal(t, "2030-01-02T13:04:05Z", leafOut.At("validityEndTime").AsString())
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM([]byte(plain(caOut, "certPem"))))
	_, err = cert.Verify(x509.VerifyOptions{
		Roots: roots, DNSName: "server.example.com", CurrentTime: c.now.Add(time.Hour), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	require.NoError(t, err)

	got, err := leaf.Invoke("tls:index/getCertificate:getCertificate", props("content", caOut.At("certPem")))
	require.NoError(t, err)
	first := got.At("certificates").AsArray().At(0).AsMap()
	require.True(t, first.At("isCa").AsBool())
	require.Equal(t, 1.0, first.At("maxPathLength").AsNumber())
	require.Contains(t, first.At("subject").AsString(), "CN=CA")
}

func TestPathsBelowAnAuthorityAreAsLongAsAsked(t *testing.T) {
	k := key(t)
	for _, c := range []struct {
		ca     bool
		length int
		want   int // in the form of package x509: -1 for any
	}{{true, 0, 0}, {true, 2, 2}, {true, -1, -1}, {false, 2, -1}} {
		s, _ := stack(t, "SelfSignedCert")
		in := props("privateKeyPem", k, "validityPeriodHours", 1, "allowedUses", []string{}, "isCaCertificate", c.ca,
			"maxPathLength", c.length, "subject", props("commonName", "x"))
		cert, err := x509.ParseCertificate(der(t, plain(s.Create(in), "certPem"), "CERTIFICATE"))
		require.NoError(t, err)
		require.Equal(t, c.want, cert.MaxPathLen)
		require.Equal(t, c.ca, cert.IsCA)
	}
	s, _ := stack(t, "SelfSignedCert")
	require.Equal(t, "maxPathLength", s.Refused(props("privateKeyPem", k, "validityPeriodHours", 1, "allowedUses", []string{},
		"maxPathLength", -2))[0].Property)
}

func TestCertificateIsRenewedBeforeItsEnd(t *testing.T) {
	s, c := stack(t, "SelfSignedCert")
	in := props("privateKeyPem", key(t), "validityPeriodHours", 10, "earlyRenewalHours", 3, "allowedUses", []string{})
	s.Create(in)
	c.now = c.now.Add(7*time.Hour - time.Second)
	s.RequireSame(in)
	s.RequireUnchanged()
	later := in.With("earlyRenewalHours", property.Number(2))
	s.Update(later)
	c.now = c.now.Add(time.Hour + time.Second)
	s.RequireReplace(later, "readyForRenewal")
	require.True(t, s.Refresh())
	require.True(t, s.Outputs.At("readyForRenewal").AsBool())
	s.RequireReplace(later, "readyForRenewal")
}

func TestInputsOfCertificatesAreChecked(t *testing.T) {
	s, _ := stack(t, "SelfSignedCert")
	in := props("privateKeyPem", "x", "validityPeriodHours", 1, "allowedUses", []string{"flying"})
	require.Contains(t, s.Refused(in)[0].Reason, "server_auth")
	good := in.With("allowedUses", property.ArrayOf())
	require.ErrorContains(t, s.TryCreate(good), "not PEM")
	good = good.With("privateKeyPem", property.String(key(t)))
	require.ErrorContains(t, s.TryCreate(good.With("isCaCertificate", property.Bool(true))), "subject")
	require.ErrorContains(t, s.TryCreate(good.With("ipAddresses", native.Texts([]string{"a.b"}))), "not an IP address")
	require.ErrorContains(t, s.TryCreate(good.With("setAuthorityKeyId", property.Bool(true))), "setSubjectKeyId")
}

func TestWriteOnlyKeyIsInNoOutputAndChangesWithItsVersion(t *testing.T) {
	s, _ := stack(t, "CertRequest")
	in := props("privateKeyPemWo", key(t), "privateKeyPemWoVersion", 1)
	out := s.Create(in)
	_, recorded := out.Get("privateKeyPemWo")
	require.False(t, recorded)
	require.True(t, s.Inputs.At("privateKeyPemWo").IsSecret())
	s.RequireSame(in.With("privateKeyPemWo", property.String(key(t))))
	s.RequireReplace(in.With("privateKeyPemWoVersion", property.Number(2)), "privateKeyPemWoVersion")
	require.Equal(t, "privateKeyPemWoVersion", s.Refused(in.Without("privateKeyPemWoVersion"))[0].Property)
	require.Equal(t, "privateKeyPem", s.Refused(props())[0].Property)
}

func TestCertificatesOfServersAreFetched(t *testing.T) {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	s, _ := stack(t, "PrivateKey")
	for _, u := range []string{server.URL, "tls://" + server.Listener.Addr().String()} {
		got, err := s.Invoke("tls:index/getCertificate:getCertificate", props("url", u, "verifyChain", false))
		require.NoError(t, err)
		require.Equal(t, server.Certificate().Raw, der(t, got.At("certificates").AsArray().At(0).AsMap().At("certPem").AsString(), "CERTIFICATE"))
		_, err = s.Invoke("tls:index/getCertificate:getCertificate", props("url", u))
		require.ErrorContains(t, err, "certificate")
	}
	_, err := s.Invoke("tls:index/getCertificate:getCertificate", props("url", "ftp://x"))
	require.ErrorContains(t, err, "https://")
}
