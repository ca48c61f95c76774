package cloud

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/internal/emulatortest"
)

// service is an object store that speaks the protocol of a cloud.
type service struct {
	// behind starts it, with something between it and the clients, and returns the URL of a prefix in a bucket.
	behind func(t *testing.T, prefix string, between func(http.Handler) http.Handler) string
	// write is the method of the requests that write an object.
	write string
	// repeats says that the client library repeats a write when the connection is closed before the reply.
	repeats bool
}

func services() map[string]service {
	return map[string]service{
		"s3":     {s3Behind, http.MethodPut, true},
		"gs":     {googleBehind, http.MethodPost, false},
		"azblob": {azureBehind, http.MethodPut, true},
	}
}

func direct(h http.Handler) http.Handler { return h }

// googleBehind starts fake-gcs-server, which has to know the address of the proxy before it starts.
func googleBehind(t *testing.T, prefix string, between func(http.Handler) http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	public := server.Listener.Addr().String()
	server.Config.Handler = between(proxyTo(emulatortest.Google(t, public)))
	server.Start()
	t.Cleanup(server.Close)
	reply, err := http.Post("http://"+public+"/storage/v1/b?project=p", "application/json", strings.NewReader(`{"name":"states"}`))
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusOK, reply.StatusCode)
	t.Setenv("STORAGE_EMULATOR_HOST", public)
	return "gs://states" + prefix
}

// The account that every Azurite has, with its public key.
const azuriteAccount = "AccountName=devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"

func azureBehind(t *testing.T, prefix string, between func(http.Handler) http.Handler) string {
	t.Helper()
	front := azureFront()
	handler := between(proxyTo(emulatortest.Azure(t)))
	front.present.Store(&handler)
	connection := "DefaultEndpointsProtocol=http;" + azuriteAccount + "BlobEndpoint=" + front.URL + "/devstoreaccount1;"
	client, err := azblob.NewClientFromConnectionString(connection, nil)
	require.NoError(t, err)
	_, err = client.CreateContainer(context.Background(), "states", nil)
	require.NoError(t, err)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", connection)
	return "azblob://states" + prefix
}

// front is a server that passes requests to whatever is behind it at present.
type front struct {
	*httptest.Server
	present atomic.Pointer[http.Handler]
}

// azureFront lives as long as the process, because the library's driver does, which reads its environment variables only once.
var azureFront = sync.OnceValue(func() *front {
	f := &front{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*f.present.Load()).ServeHTTP(w, r) }))
	return f
})

// proxyTo passes requests on with the host that they were meant for, which is part of what clients sign.
func proxyTo(address string) http.Handler {
	target := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		host := r.In.Host
		r.SetURL(target)
		r.Out.Host = host
	}}
}
