package web_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
	"github.com/sluice-iac/sluice/providers/native/nativetest"
	builtintls "github.com/sluice-iac/sluice/providers/native/tls"
	"github.com/sluice-iac/sluice/providers/native/web"
)

const token = "http:index/getHttp:getHttp"

func props(pairs ...any) property.Map { return nativetest.Props(pairs...) }

func stack(t *testing.T) (*nativetest.Stack, *[]native.Message) {
	var said []native.Message
	o := native.Options{Log: func(m native.Message) { said = append(said, m) }}
	return nativetest.New(t, web.Package(o), "", o), &said
}

func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Add("X-Two", "a")
	w.Header().Add("X-Two", "b")
	w.WriteHeader(http.StatusTeapot)
	_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.Host, r.Header.Get("X-One"), string(body)}, "|"))
}

func TestServersAreAskedAndTheirAnswersGiven(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	s, _ := stack(t)
	out, err := s.Invoke(token, props("url", server.URL, "method", "POST", "requestBody", "hello",
		"requestHeaders", props("X-One", "1", "Host", "example.com")))
	require.NoError(t, err)
	require.Equal(t, "POST|example.com|1|hello", out.At("responseBody").AsString())
	require.Equal(t, "UE9TVHxleGFtcGxlLmNvbXwxfGhlbGxv", out.At("responseBodyBase64").AsString())
	require.True(t, property.Equal(out.At("body"), out.At("responseBody")))
	require.Equal(t, 418.0, out.At("statusCode").AsNumber())
	require.Equal(t, "a, b", out.At("responseHeaders").AsMap().At("X-Two").AsString())
	require.Equal(t, server.URL, out.At("id").AsString())
	require.Equal(t, server.URL, out.At("url").AsString())

	out, err = s.Invoke(token, props("url", server.URL))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out.At("body").AsString(), "GET|"))
	out, err = s.Invoke(token, props("url", property.Secret(property.String(server.URL)), "method", "HEAD"))
	require.NoError(t, err)
	require.True(t, out.At("body").IsSecret())
	require.Empty(t, out.At("body").StripSecrets().AsString())
}

func TestAnswersThatAreNoTextAreWarnedOf(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{'a', 0xff}) }))
	defer server.Close()
	s, said := stack(t)
	out, err := s.Invoke(token, props("url", server.URL))
	require.NoError(t, err)
	require.Equal(t, "a\uFFFD", out.At("responseBody").AsString())
	require.Equal(t, "Yf8=", out.At("responseBodyBase64").AsString())
	require.Len(t, *said, 1)
	require.True(t, (*said)[0].Warning)
}

func TestRequestsAreTriedAgainIfThatIsAsked(t *testing.T) {
	var asked atomic.Int32
	status := func(n int32) int {
		return map[int32]int{1: http.StatusBadGateway, 2: http.StatusServiceUnavailable}[n]
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case r.URL.Path == "/never":
			w.WriteHeader(http.StatusNotImplemented)
		case status(n) != 0:
			w.WriteHeader(status(n))
		}
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		in     property.Map
		path   string
		status float64
		asked  int32
	}{
		"no":           {props(), "", http.StatusBadGateway, 1},
		"too seldom":   {props("retry", props("attempts", 1, "minDelayMs", 1, "maxDelayMs", 2)), "", http.StatusServiceUnavailable, 2},
		"often enough": {props("retry", props("attempts", 5, "minDelayMs", 1)), "", http.StatusOK, 3},
		"in vain":      {props("retry", props("attempts", 5, "minDelayMs", 1)), "/never", http.StatusNotImplemented, 1},
	} {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			s, _ := stack(t)
			out, err := s.Invoke(token, c.in.With("url", property.String(server.URL+c.path)))
			require.NoError(t, err)
			require.Equal(t, c.status, out.At("statusCode").AsNumber())
			require.Equal(t, c.asked, asked.Load())
		})
	}
}

// identity returns a certificate with its key, as PEM.
func identity(t *testing.T) (cert, key string) {
	s := nativetest.New(t, builtintls.Package(native.Options{}), "tls:index/privateKey:PrivateKey", native.Options{})
	key = s.Create(props("algorithm", "ECDSA", "ecdsaCurve", "P256")).At("privateKeyPem").StripSecrets().AsString()
	s = nativetest.New(t, builtintls.Package(native.Options{}), "tls:index/selfSignedCert:SelfSignedCert", native.Options{})
	out := s.Create(props("privateKeyPem", key, "validityPeriodHours", 1, "allowedUses", []string{"client_auth"},
		"isCaCertificate", true, "subject", props("commonName", "me")))
	return out.At("certPem").AsString(), key
}

func TestTrustGoesBothWays(t *testing.T) {
	cert, key := identity(t)
	server := httptest.NewUnstartedServer(http.HandlerFunc(echo))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool()}
	require.True(t, server.TLS.ClientCAs.AppendCertsFromPEM([]byte(cert)))
	server.StartTLS()
	defer server.Close()
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	s, _ := stack(t)
	out, err := s.Invoke(token, props("url", server.URL, "caCertPem", ca, "clientCertPem", cert, "clientKeyPem", key))
	require.NoError(t, err)
	require.Equal(t, 418.0, out.At("statusCode").AsNumber())
	require.True(t, out.At("clientKeyPem").IsSecret())
	require.False(t, out.At("body").IsSecret())
	_, err = s.Invoke(token, props("url", server.URL, "insecure", true, "clientCertPem", cert, "clientKeyPem", key))
	require.NoError(t, err)
	for want, in := range map[string]property.Map{
		"certificate":      props("url", server.URL, "clientCertPem", cert, "clientKeyPem", key),
		"tls":              props("url", server.URL, "caCertPem", ca),
		"go together":      props("url", server.URL, "clientCertPem", cert),
		"caCertPem has no": props("url", server.URL, "caCertPem", "x"),
		"clientCertPem: ":  props("url", server.URL, "clientCertPem", "x", "clientKeyPem", "y"),
		"https://":         props("url", "ftp://x"),
		"HEAD and POST":    props("url", server.URL, "method", "PUT"),
	} {
		_, err := s.Invoke(token, in)
		require.ErrorContains(t, err, want)
	}
}

func TestRequestsMayTakeOnlyTheirTime(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer server.Close()
	s, _ := stack(t)
	_, err := s.Invoke(token, props("url", server.URL, "requestTimeoutMs", 50))
	require.ErrorContains(t, err, "Timeout")
}

// A server that answers without end does not fill the memory.
func TestALongAnswerIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		part := make([]byte, 1<<20)
		for {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	s, _ := stack(t)
	_, err := s.Invoke(token, props("url", server.URL))
	require.ErrorContains(t, err, "the answer has more than 33554432 bytes")
}
