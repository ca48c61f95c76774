package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	pemfile "encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/stretchr/testify/require"
)

// gitHub stands for GitHub, on this machine: it is behind a proxy that leads every host to it, and has a release of the language plugin of
// .NET, which runs programs like the tests' language "fake". It returns the variables that make sluice use the proxy and trust the server.
func gitHub(t *testing.T) map[string]string {
	t.Helper()
	archive := "pulumi-language-dotnet-v3.99.1-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	content := packedScript(t, "pulumi-language-dotnet", "#!/bin/sh\nexec pulumi-language-fake \"$@\"\n")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const repository = "/repos/pulumi/pulumi-dotnet"
		switch "https://" + r.Host + r.URL.Path {
		case "https://api.github.com" + repository + "/releases/latest":
			_, _ = io.WriteString(w, `{"tag_name": "v3.99.1", "assets": []}`)
		case "https://github.com/pulumi/pulumi-dotnet/releases/download/v3.99.1/" + archive:
			_, _ = w.Write(content)
		default:
			http.NotFound(w, r)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificateFor(t, "github.com", "api.github.com")}}
	server.StartTLS()
	t.Cleanup(server.Close)
	proxy := httptest.NewServer(tunnels{server.Listener.Addr().String()})
	t.Cleanup(proxy.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	certificate := pemfile.EncodeToMemory(&pemfile.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(authority, certificate, 0o600))
	return map[string]string{"GITHUB_PROXY": proxy.URL, "GITHUB_AUTHORITY": authority}
}

// certificateFor returns a self-signed certificate of servers.
func certificateFor(t *testing.T, hosts ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	is := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: hosts, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, is, is, key.Public(), key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// packedScript returns an archive with one script.
func packedScript(t *testing.T, name, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o755, Size: int64(len(text))}))
	_, err := io.WriteString(w, text)
	require.NoError(t, errors.Join(err, w.Close(), z.Close()))
	return b.Bytes()
}

// tunnels is a proxy that connects every client with one server, whatever host it names.
type tunnels struct{ address string }

func (p tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "this proxy only has tunnels", http.StatusMethodNotAllowed)
		return
	}
	server, err := net.Dial("tcp", p.address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer server.Close()
	w.WriteHeader(http.StatusOK)
	client, read, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	var up conc.WaitGroup
	up.Go(func() {
		_, _ = io.Copy(server, read)
		_ = server.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(client, server)
	_ = client.Close()
	up.Wait()
}
