package plugin_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/providertest"
)

// reply is a plugin's reply to one call.
type reply struct {
	frame   []byte // nil for an error without a message
	headers bool   // it writes headers before an error, as some servers do
	code    codes.Code
	message string
	details []byte // an encoded google.rpc.Status
}

// frame returns a message in gRPC's form, with its length before it.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	require.NoError(t, err)
	return b
}

// write writes a reply like a gRPC server, not necessarily that of Go.
func (r reply) write(t *testing.T, w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	prefix := ""
	if r.frame != nil || r.headers {
		prefix = http.TrailerPrefix
		flushed(t, w, r.frame)
	}
	w.Header().Set(prefix+"Grpc-Status", fmt.Sprint(int(r.code)))
	w.Header().Set(prefix+"Grpc-Message", strings.ReplaceAll(r.message, "%", "%25"))
	if r.details != nil {
		w.Header().Set(prefix+"Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(r.details))
	}
}

func flushed(t *testing.T, w http.ResponseWriter, b []byte) {
	_, err := w.Write(b)
	if err == nil {
		err = http.NewResponseController(w).Flush()
	}
	if err != nil {
		t.Log(err) // the caller may have stopped reading
	}
}

// answering is a provider whose plugin gives this reply to each Create.
func answering(t *testing.T, create reply) providers.Provider {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // these tests do not use the rest
		switch {
		case strings.HasSuffix(r.URL.Path, "/Create"):
			create.write(t, w)
		case strings.HasSuffix(r.URL.Path, "/GetPluginInfo"):
			reply{frame: frame(encoded(t, &pulumirpc.PluginInfo{Version: "2.3.4"}))}.write(t, w)
		default:
			reply{frame: frame(nil)}.write(t, w)
		}
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	c, err := newHost(setup{env: map[string]string{"PULUMI_DEBUG_PROVIDERS": "simple:" + at.Port()}}).Load(t.Context(), providers.Spec{Package: "simple"})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		server.Close()
	})
	return c
}

// sick encodes the error of an unhealthy object, with a spoiled detail if spoil is set.
func sick(t *testing.T, spoil bool) []byte {
	t.Helper()
	st, err := status.New(codes.Unknown, "sick").WithDetails(protoadapt.MessageV1Of(&pulumirpc.ErrorResourceInitFailed{Id: "i-12345", Reasons: []string{"no route"}}))
	require.NoError(t, err)
	b := encoded(t, st.Proto())
	if spoil {
		b = bytes.Replace(b, []byte("i-12345"), []byte("i-\xff\xff345"), 1)
	}
	return b
}

func TestACreateWhoseAnswerIsMissingIsLost(t *testing.T) {
	id := encoded(t, &pulumirpc.CreateResponse{Id: "i-12345"})
	large := binary.BigEndian.AppendUint32([]byte{0}, plugin.MaxMessageSize+1)
	const undecoded, unencoded = "gave an answer that cannot be decoded: ", "could not encode its answer: "
	for name, c := range map[string]struct {
		reply reply
		says  string
	}{
		"not a message":            {reply{frame: frame([]byte("\xff\xff\xff"))}, undecoded},
		"invalid UTF-8":            {reply{frame: frame(bytes.Replace(id, []byte("345"), []byte("\xff\xff\xff"), 1))}, undecoded},
		"too large":                {reply{frame: large}, undecoded + "grpc: received message larger than max"},
		"no message":               {reply{headers: true}, undecoded},
		"two messages":             {reply{frame: append(frame(id), frame(id)...)}, undecoded},
		"not encoded by Go":        {reply{code: codes.Internal, message: "grpc: error while marshaling: string field contains invalid UTF-8"}, unencoded},
		"too large for Go":         {reply{code: codes.ResourceExhausted, message: "grpc: trying to send message larger than max (9 vs. 4)"}, unencoded},
		"not encoded by Node.js":   {reply{code: codes.Internal, message: "Error serializing response: too much"}, unencoded},
		"not encoded by Python":    {reply{headers: true, code: codes.Internal, message: "Failed to serialize response!"}, unencoded},
		"too large for Python":     {reply{headers: true, code: codes.ResourceExhausted, message: "SERVER: Sent message larger than max (9 vs. 4)"}, unencoded},
		"details that are nothing": {reply{code: codes.Unknown, message: "sick", details: []byte("\xff")}, "gave an error with details that cannot be decoded: sick"},
		"object that is not healthy and cannot be read": {
			reply{code: codes.Unknown, message: "sick", details: sick(t, true)}, "answered with an object that is not healthy and cannot be read",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t.Context(), answering(t, c.reply), "web", object("blob", strings.Repeat("x", 2<<20)))
			requireLost(t, err, "create of "+string(web)+": provider simple 2.3.4 "+c.says)
			require.ErrorContains(t, err, "this is a bug in the provider")
			require.False(t, errors.As(err, new(*providers.InitError)))
		})
	}
}

func TestAnErrorOfTheProviderIsNotAMissingAnswer(t *testing.T) {
	for name, r := range map[string]reply{
		"quota":                    {code: codes.ResourceExhausted, message: "quota exceeded"},
		"quota, after headers":     {headers: true, code: codes.ResourceExhausted, message: "quota exceeded"},
		"internal":                 {code: codes.Internal, message: "the cloud has burnt down"},
		"request not read":         {code: codes.ResourceExhausted, message: "grpc: received message larger than max (9 vs. 4)"},
		"request not decoded":      {code: codes.Internal, message: "grpc: error unmarshalling request: recursion"},
		"request not read, Python": {headers: true, code: codes.ResourceExhausted, message: "SERVER: Received message larger than max (9 vs. 4)"},
		"not healthy":              {code: codes.Unknown, message: "sick", details: sick(t, false)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t.Context(), answering(t, r), "web", object())
			require.EqualError(t, err, r.message)
			var said interface{ Throttled() bool }
			require.ErrorAs(t, err, &said)
			require.Equal(t, r.message == "quota exceeded", said.Throttled(), "the text does not say it, and the code does")
			var u *providers.UncertainError
			require.False(t, errors.As(err, &u) && u.Lost)
		})
	}
}

func TestARequestThatCannotBeSentIsNotLost(t *testing.T) {
	c, requests := attached(t, providertest.NewCloud(providertest.Options{}).Provider("simple"), 2<<20)
	deep := property.Null
	for range 10_000 {
		deep = property.ArrayOf(deep)
	}
	for name, in := range map[string]property.Map{
		"not text":                   object("text", "\xff"),
		"too deep":                   object("deep", deep),
		"too large for the provider": object("blob", strings.Repeat("x", 3<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := create(t.Context(), c, "web", in)
			require.Error(t, err)
			var u *providers.UncertainError
			require.False(t, errors.As(err, &u) && u.Lost, "%v", err)
			requests.mu.Lock()
			defer requests.mu.Unlock()
			require.NotContains(t, requests.seen, "Create")
		})
	}
}
