package emulatortest

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
)

// Store is an emulated object store of a cloud.
type Store struct {
	// Write is the HTTP method of writing an object.
	Write string
	// Lists reports whether a request lists objects.
	Lists func(*http.Request) bool
	start func(t *testing.T, between Between) Place
}

// Between wraps a server in a handler that comes before it.
type Between func(http.Handler) http.Handler

// Direct adds no handler.
func Direct(h http.Handler) http.Handler { return h }

// Place is an empty bucket, or a key.
type Place struct {
	// URL is the URL for the command line.
	URL string
	// Env has the variables that make clients use the emulator.
	Env map[string]string
}

// Environ returns the variables as a process gets them.
func (p Place) Environ() []string {
	var all []string
	for name, value := range p.Env {
		all = append(all, name+"="+value)
	}
	return all
}

// Use sets the variables for the rest of a test. Unlike with [testing.T.Setenv], tests of different stores may run at the same time: each
// store has its own variables.
func (p Place) Use(t *testing.T) {
	t.Helper()
	for name, value := range p.Env {
		former, was := os.LookupEnv(name)
		require.NoError(t, os.Setenv(name, value))
		t.Cleanup(func() {
			if was {
				_ = os.Setenv(name, former)
			} else {
				_ = os.Unsetenv(name)
			}
		})
	}
}

// Stores returns the object stores by the schemes of their URLs.
func Stores() map[string]Store {
	list := func(name, value string) func(*http.Request) bool {
		return func(r *http.Request) bool { return r.Method == http.MethodGet && r.URL.Query().Get(name) == value }
	}
	return map[string]Store{
		"s3": {http.MethodPut, list("list-type", "2"), startS3},
		"gs": {http.MethodPost, func(r *http.Request) bool {
			return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/o")
		}, startGoogle},
		"azblob": {http.MethodPut, list("comp", "list"), startAzure},
	}
}

// Start starts an object store, with a handler between it and its clients, and returns a prefix in a bucket. It runs until the end of the
// test.
func (s Store) Start(t *testing.T, prefix string, between Between) Place {
	t.Helper()
	p := s.start(t, between)
	base, parameters, has := strings.Cut(p.URL, "?")
	p.URL = base + prefix
	if has {
		p.URL += "?" + parameters
	}
	p.Env = maps.Clone(p.Env)
	return p
}

func startS3(t *testing.T, between Between) Place {
	t.Helper()
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("states"))
	server := httptest.NewServer(between(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return Place{
		URL: "s3://states?region=eu-central-1&endpoint=" + server.Listener.Addr().String() + "&disableSSL=true&s3ForcePathStyle=true",
		Env: map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"},
	}
}

var google = byGo("fake-gcs-server", "github.com/fsouza/fake-gcs-server", "v1.56.1").once()

// startGoogle starts fake-gcs-server, which needs the address of the front before it starts.
func startGoogle(t *testing.T, between Between) Place {
	t.Helper()
	program := needed(t, google)
	front := newFront()
	t.Cleanup(front.Close)
	public := front.Listener.Addr().String()
	server := proxyTo(start(t, func(host, port string) *exec.Cmd {
		return exec.Command(program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", public,
			"-external-url", front.URL, "-log-level", "warn")
	}))
	front.pass(server)
	reply, err := http.Post(front.URL+"/storage/v1/b?project=p", "application/json", strings.NewReader(`{"name":"states"}`))
	require.NoError(t, err)
	require.NoError(t, reply.Body.Close())
	require.Equal(t, http.StatusOK, reply.StatusCode)
	front.pass(between(server))
	return Place{URL: "gs://states", Env: map[string]string{"STORAGE_EMULATOR_HOST": public}}
}

var azure = byNPM("azurite", "3.35.0", "dist/src/blob/main.js").once()

// azuriteAccount is the account of every Azurite, with its public key.
const azuriteAccount = "AccountName=devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"

func startAzure(t *testing.T, between Between) Place {
	t.Helper()
	program := needed(t, azure)
	server := proxyTo(start(t, func(host, port string) *exec.Cmd {
		return exec.Command("node", program, "--blobHost", host, "--blobPort", port, "--inMemoryPersistence", "--disableTelemetry",
			"--skipApiVersionCheck", "--silent")
	}))
	front := azureFront()
	front.pass(server)
	connection := "DefaultEndpointsProtocol=http;" + azuriteAccount + "BlobEndpoint=" + front.URL + "/devstoreaccount1;"
	client, err := azblob.NewClientFromConnectionString(connection, nil)
	require.NoError(t, err)
	_, err = client.CreateContainer(context.Background(), "states", nil)
	require.NoError(t, err)
	front.pass(between(server))
	return Place{URL: "azblob://states", Env: map[string]string{"AZURE_STORAGE_CONNECTION_STRING": connection}}
}

// front is a server that passes requests to a handler that can be replaced.
type front struct {
	*httptest.Server
	present atomic.Pointer[http.Handler]
}

func newFront() *front {
	f := &front{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*f.present.Load()).ServeHTTP(w, r) }))
	return f
}

func (f *front) pass(to http.Handler) { f.present.Store(&to) }

// azureFront lives as long as the process, because the library's driver reads its environment variables only once.
var azureFront = sync.OnceValue(newFront)

// proxyTo passes requests on with their original host, which is part of what clients sign.
func proxyTo(address string) http.Handler {
	target := &url.URL{Scheme: "http", Host: address}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		host := r.In.Host
		r.SetURL(target)
		r.Out.Host = host
	}}
}
