// Package web is the built-in provider of the package "http": a function that sends a request to a server, with the shape
// of the public package of that name.
//
// Invariant: a response with any status is a result; it is an error if there is no response.
package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/pipeline/await"
	"github.com/sluice-iac/sluice/providers/native"
)

// Name is the package's name.
const Name = "http"

// Package describes the package.
func Package(native.Options) native.Package {
	body := needed(text("body", "The old name of responseBody."))
	body.Old = "responseBody"
	return native.Package{
		Name: Name, Version: "0.1.5", Doc: "What servers answer.",
		Functions: []native.Function{{
			Token: "http:index/getHttp:getHttp", Doc: "Asks a server, every time.", Inputs: inputs(),
			Outputs: append([]native.Field{
				body, needed(text("id", "The URL.")),
				needed(text("responseBody", "The answer.")), needed(text("responseBodyBase64", "The answer in base64.")),
				{Name: "responseHeaders", Type: native.MapOf(native.Of(native.KindString)), Required: true, Doc: "The fields of its header."},
				needed(number("statusCode", "Its status.")),
			}, inputs()...),
			Call: get,
		}},
	}
}

func text(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindString), Doc: doc}
}

func number(name, doc string) native.Field {
	return native.Field{Name: name, Type: native.Of(native.KindInteger), Doc: doc}
}

func needed(f native.Field) native.Field { f.Required = true; return f }

func inputs() []native.Field {
	retry := native.Record("http:index/getHttpRetry:getHttpRetry", number("attempts", "How often to try again."),
		number("maxDelayMs", "The longest pause, in milliseconds."), number("minDelayMs", "The shortest pause, in milliseconds."))
	key := text("clientKeyPem", "The key of clientCertPem, as PEM.")
	key.Secret = true
	return []native.Field{
		text("caCertPem", "The certificates of the authorities to trust instead of the system's, as PEM."),
		text("clientCertPem", "The certificate to show to the server, as PEM."), key,
		{Name: "insecure", Type: native.Of(native.KindBoolean), Doc: "Whether to trust any server."},
		text("method", "GET, which is the default, HEAD or POST."), text("requestBody", "What to send."),
		{Name: "requestHeaders", Type: native.MapOf(native.Of(native.KindString)), Doc: "Fields of the header to send."},
		number("requestTimeoutMs", "How long an attempt may take, in milliseconds; any time by default."),
		{Name: "retry", Type: retry, Doc: "Whether to try again after errors of the connection and answers with a status of 500 and more, but not 501."},
		needed(text("url", "The URL: http:// or https://.")),
	}
}

func get(ctx context.Context, c native.Call) (native.Outputs, error) {
	u, err := url.Parse(c.Inputs.Text("url"))
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the URL %q must begin with http:// or https://", u.Redacted())
	}
	switch c.Inputs.Text("method") {
	case "", http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return nil, fmt.Errorf("the method is %q; there are GET, HEAD and POST", c.Inputs.Text("method"))
	}
	config, err := trust(c.Inputs)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport: transport, Timeout: time.Duration(c.Inputs.Int("requestTimeoutMs")) * time.Millisecond,
	}
	found, body, err := askAgain(ctx, c, client)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) {
		c.Log(native.Message{Warning: true, Text: fmt.Sprintf("the answer of %s is not UTF-8; responseBodyBase64 has its bytes", u.Redacted())})
	}
	return outputs(c, found, body), nil
}

func outputs(c native.Call, found *http.Response, body []byte) native.Outputs {
	headers := native.Outputs{}
	for name, values := range found.Header {
		headers[name] = native.Text(strings.Join(values, ", "))
	}
	answer := native.Text(strings.ToValidUTF8(string(body), "\uFFFD"))
	return native.Outputs{
		"id": native.Text(c.Inputs.Text("url")), "statusCode": native.Int(found.StatusCode), "body": answer, "responseBody": answer,
		"responseBodyBase64": native.Text(base64.StdEncoding.EncodeToString(body)), "responseHeaders": native.Object(headers),
	}
}

// trust returns which servers to trust, and the client certificate to present.
func trust(in native.Values) (*tls.Config, error) {
	config := &tls.Config{InsecureSkipVerify: in.Bool("insecure")} //nolint:gosec // requested by the inputs
	if in.Has("caCertPem") {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(in.Text("caCertPem"))) {
			return nil, errors.New("caCertPem has no certificate")
		}
	}
	if in.Has("clientCertPem") != in.Has("clientKeyPem") {
		return nil, errors.New("clientCertPem and clientKeyPem go together")
	}
	if in.Has("clientCertPem") {
		pair, err := tls.X509KeyPair([]byte(in.Text("clientCertPem")), []byte(in.Text("clientKeyPem")))
		if err != nil {
			return nil, fmt.Errorf("clientCertPem: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// askAgain sends the request until a response counts or all attempts are used up. Then the last response counts.
func askAgain(ctx context.Context, c native.Call, client *http.Client) (*http.Response, []byte, error) {
	retry := c.Inputs.Object("retry")
	least, most := time.Second, 30*time.Second
	if retry.Has("minDelayMs") {
		least = time.Duration(retry.Int("minDelayMs")) * time.Millisecond
	}
	if retry.Has("maxDelayMs") {
		most = time.Duration(retry.Int("maxDelayMs")) * time.Millisecond
	}
	pause := least
	for attempt := 0; ; attempt++ {
		found, body, err := ask(ctx, c.Inputs, client)
		again := err != nil || found.StatusCode >= 500 && found.StatusCode != http.StatusNotImplemented
		if !again || attempt >= retry.Int("attempts") || ctx.Err() != nil {
			return found, body, err
		}
		if err := await.For(ctx, min(pause, most)); err != nil {
			return nil, nil, err
		}
		pause *= 2
	}
}

func ask(ctx context.Context, in native.Values, client *http.Client) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, in.Text("method"), in.Text("url"), strings.NewReader(in.Text("requestBody")))
	if err != nil {
		return nil, nil, err
	}
	for name, value := range in.TextMap("requestHeaders") {
		if strings.EqualFold(name, "host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	found, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer found.Body.Close()
	body, err := io.ReadAll(io.LimitReader(found.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("the answer has more than %d bytes, the largest size that is recorded", maxBody)
	}
	return found, body, err
}

// maxBody is the maximum length of an answer, in bytes.
const maxBody = 32 << 20
