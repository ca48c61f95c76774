package tls

import (
	"context"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

// settings are the configuration of a provider.
type settings struct{ proxy native.Values }

func (p *settings) getCertificate() native.Function {
	inputs := []native.Field{
		text("content", "The certificate as PEM."), text("url", "The server to ask: https://… or tls://<host>:<port>."),
		flag("verifyChain", "Whether the server's certificates have to be trusted. The default is true."),
	}
	certificate := native.Record("tls:index/getCertificateCertificate:getCertificateCertificate",
		needed(text("certPem", "")), needed(flag("isCa", "")), needed(text("issuer", "")), needed(number("maxPathLength", "")),
		needed(text("notAfter", "")), needed(text("notBefore", "")), needed(text("publicKeyAlgorithm", "")),
		needed(text("serialNumber", "")), needed(text("sha1Fingerprint", "")), needed(text("signatureAlgorithm", "")),
		needed(text("subject", "")), needed(number("version", "")))
	return native.Function{
		Token: "tls:index/getCertificate:getCertificate", Doc: "What is in a certificate, or in those of a server, root first.",
		Inputs: inputs, Outputs: append([]native.Field{
			{Name: "certificates", Type: native.ArrayOf(certificate), Required: true}, needed(text("id", "")),
		}, inputs...),
		Call: func(ctx context.Context, c native.Call) (native.Outputs, error) {
			found, err := p.certificates(ctx, c.Inputs)
			if err != nil {
				return nil, err
			}
			var described []property.Value
			var all []byte
			for _, cert := range found {
				described = append(described, describe(cert))
				all = append(all, cert.Raw...)
			}
			outputs := native.Outputs{"certificates": property.ArrayOf(described...), "id": native.Text(hash(all))}
			if !c.Inputs.Has("verifyChain") {
				outputs["verifyChain"] = native.Bool(true)
			}
			return outputs, nil
		},
	}
}

func (p *settings) certificates(ctx context.Context, in native.Values) ([]*x509.Certificate, error) {
	if in.Has("content") == in.Has("url") {
		return nil, errors.New("give exactly one of content and url")
	}
	if in.Has("content") {
		der, err := decode(in.Text("content"), "CERTIFICATE")
		if err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		cert, err := x509.ParseCertificate(der)
		return []*x509.Certificate{cert}, err
	}
	u, err := url.Parse(in.Text("url"))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{InsecureSkipVerify: in.Has("verifyChain") && !in.Bool("verifyChain")}
	var peers []*x509.Certificate
	switch u.Scheme {
	case "https":
		peers, err = p.overHTTPS(ctx, u, config)
	case "tls":
		peers, err = overTLS(ctx, u, config)
	default:
		return nil, fmt.Errorf("url %q must begin with https:// or tls://", u)
	}
	peers = slices.Clone(peers)
	slices.Reverse(peers)
	return peers, err
}

func overTLS(ctx context.Context, u *url.URL, config *tls.Config) ([]*x509.Certificate, error) {
	if u.Port() == "" {
		return nil, fmt.Errorf("url %q must have a port", u)
	}
	conn, err := (&tls.Dialer{NetDialer: &net.Dialer{Timeout: 30 * time.Second}, Config: config}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates, nil
}

func (p *settings) overHTTPS(ctx context.Context, u *url.URL, config *tls.Config) ([]*x509.Certificate, error) {
	proxy, err := p.proxyFor()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: config, Proxy: proxy}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: time.Minute}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(req)
		if err != nil {
			if method == http.MethodHead {
				continue // some servers support only GET
			}
			return nil, err
		}
		_ = response.Body.Close()
		if response.TLS != nil && len(response.TLS.PeerCertificates) > 0 {
			return response.TLS.PeerCertificates, nil
		}
	}
	return nil, fmt.Errorf("%s answered without a certificate", u)
}

// proxyFor returns the function that chooses the configured proxy; nil for none.
func (p *settings) proxyFor() (func(*http.Request) (*url.URL, error), error) {
	switch {
	case p.proxy.Has("url"):
		u, err := url.Parse(p.proxy.Text("url"))
		if err != nil {
			return nil, fmt.Errorf("the proxy's url: %w", err)
		}
		if p.proxy.Has("username") {
			u.User = url.UserPassword(p.proxy.Text("username"), p.proxy.Text("password"))
		}
		return http.ProxyURL(u), nil
	case !p.proxy.Has("fromEnv") || p.proxy.Bool("fromEnv"):
		return http.ProxyFromEnvironment, nil
	}
	return nil, nil
}

func describe(c *x509.Certificate) property.Value {
	sum := sha1.Sum(c.Raw)
	return native.Object(native.Outputs{
		"certPem": encodePEM("CERTIFICATE", c.Raw), "isCa": native.Bool(c.IsCA), "issuer": native.Text(c.Issuer.String()),
		"maxPathLength": native.Int(c.MaxPathLen), "notAfter": native.Text(c.NotAfter.Format(time.RFC3339)),
		"notBefore":          native.Text(c.NotBefore.Format(time.RFC3339)),
		"publicKeyAlgorithm": native.Text(c.PublicKeyAlgorithm.String()), "serialNumber": native.Text(c.SerialNumber.String()),
		"sha1Fingerprint": native.Text(hex.EncodeToString(sum[:])), "signatureAlgorithm": native.Text(c.SignatureAlgorithm.String()),
		"subject": native.Text(c.Subject.String()), "version": native.Int(c.Version),
	})
}
