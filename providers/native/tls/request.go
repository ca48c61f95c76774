package tls

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"net"
	"net/url"

	"github.com/sluice-iac/sluice/providers/native"
)

// nameInputs returns the inputs for the subject of a certificate.
func nameInputs(resource string) []native.Field {
	subject := native.Field{Name: "subject", Replace: true, Doc: "Whose it is.", Type: native.Record(
		"tls:index/"+resource+"Subject:"+resource+"Subject",
		text("commonName", ""), text("country", ""), text("emailAddress", ""), text("locality", ""), text("organization", ""),
		text("organizationalUnit", ""), text("postalCode", ""), text("province", ""), text("serialNumber", ""),
		texts("streetAddresses", ""))}
	return append(keyInputs("privateKeyPem"),
		replacing(texts("dnsNames", "The names of the servers.")), replacing(texts("ipAddresses", "The addresses of the servers.")),
		subject, replacing(texts("uris", "The URIs of the subject.")))
}

type named struct {
	subject pkix.Name
	dns     []string
	ips     []net.IP
	uris    []*url.URL
}

func readNames(in native.Values) (named, error) {
	n := named{dns: in.Texts("dnsNames"), subject: readSubject(in.Object("subject"))}
	for _, s := range in.Texts("ipAddresses") {
		ip := net.ParseIP(s)
		if ip == nil {
			return n, fmt.Errorf("ipAddresses has %q, which is not an IP address", s)
		}
		n.ips = append(n.ips, ip)
	}
	for _, s := range in.Texts("uris") {
		u, err := url.Parse(s)
		if err != nil {
			return n, fmt.Errorf("uris: %w", err)
		}
		n.uris = append(n.uris, u)
	}
	return n, nil
}

func readSubject(s native.Values) pkix.Name {
	one := func(name string) []string {
		if s.Has(name) {
			return []string{s.Text(name)}
		}
		return nil
	}
	n := pkix.Name{
		CommonName: s.Text("commonName"), SerialNumber: s.Text("serialNumber"), Organization: one("organization"),
		OrganizationalUnit: one("organizationalUnit"), StreetAddress: s.Texts("streetAddresses"), Locality: one("locality"),
		Province: one("province"), Country: one("country"), PostalCode: one("postalCode"),
	}
	if s.Has("emailAddress") { // PKCS #9 defines it, as an IA5String
		n.ExtraNames = append(n.ExtraNames, pkix.AttributeTypeAndValue{
			Type:  asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1},
			Value: asn1.RawValue{Tag: asn1.TagIA5String, Bytes: []byte(s.Text("emailAddress"))},
		})
	}
	return n
}

func request() native.Resource {
	return native.Resource{
		Type: token("CertRequest"), Doc: "A request for a certificate.",
		Inputs: nameInputs("CertRequest"),
		Computed: []native.Field{
			needed(text("certRequestPem", "The request as PEM.")), needed(text("keyAlgorithm", "The algorithm of the key.")),
		},
		Check: checkGivenKey("privateKeyPem"),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			key, algorithm, err := givenKey(c.Inputs, "privateKeyPem")
			if err != nil {
				return native.Made{}, err
			}
			n, err := readNames(c.Inputs)
			if err != nil {
				return native.Made{}, err
			}
			template := &x509.CertificateRequest{Subject: n.subject, DNSNames: n.dns, IPAddresses: n.ips, URIs: n.uris}
			der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
			return native.Made{ID: hash(der), Outputs: native.Outputs{
				"certRequestPem": encodePEM("CERTIFICATE REQUEST", der), "keyAlgorithm": native.Text(algorithm),
			}}, err
		},
	}
}
