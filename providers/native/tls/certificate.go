package tls

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

// signedInputs returns the inputs that both kinds of certificates have.
func signedInputs() []native.Field {
	maxPathLength := replacing(number("maxPathLength", "How many authorities may come below this one; -1 is any number. It counts only for authorities."))
	maxPathLength.Output = native.Chosen
	return []native.Field{
		needed(replacing(texts("allowedUses", "What the certificate may be used for."))),
		byDefault(number("earlyRenewalHours", "How long before its end it is made anew."), native.Int(0)),
		byDefault(replacing(flag("isCaCertificate", "Whether it may sign others.")), native.Bool(false)),
		maxPathLength,
		byDefault(replacing(flag("setSubjectKeyId", "Whether to write the key's identifier into it.")), native.Bool(false)),
		needed(replacing(number("validityPeriodHours", "How long it is valid."))),
	}
}

func signedOutputs() []native.Field {
	return []native.Field{
		needed(text("certPem", "The certificate as PEM.")),
		needed(flag("readyForRenewal", "Whether the time to make it anew has come.")),
		needed(text("validityEndTime", "When it ends.")), needed(text("validityStartTime", "When it begins.")),
	}
}

func selfSigned(now func() time.Time) native.Resource {
	r := native.Resource{
		Type: token("SelfSignedCert"), Doc: "A certificate that its own key signs.",
		Inputs: append(append(signedInputs(), nameInputs("SelfSignedCert")...),
			byDefault(replacing(flag("setAuthorityKeyId", "Whether to write the identifier of the signing key into it.")), native.Bool(false))),
		Computed: append(signedOutputs(), needed(text("keyAlgorithm", "The algorithm of the key."))),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			key, algorithm, err := givenKey(c.Inputs, "privateKeyPem")
			if err != nil {
				return native.Made{}, err
			}
			n, err := readNames(c.Inputs)
			if err != nil {
				return native.Made{}, err
			}
			template := &x509.Certificate{Subject: n.subject, DNSNames: n.dns, IPAddresses: n.ips, URIs: n.uris}
			made, err := sign(c.Inputs, template, nil, key.Public(), key, now())
			if err == nil {
				made.Outputs["keyAlgorithm"] = native.Text(algorithm)
			}
			return made, err
		},
	}
	return renewed(r, now, "privateKeyPem")
}

func locallySigned(now func() time.Time) native.Resource {
	r := native.Resource{
		Type: token("LocallySignedCert"), Doc: "A certificate for a request, signed with a key that is here.",
		Inputs: append(append(signedInputs(), keyInputs("caPrivateKeyPem")...),
			needed(replacing(text("caCertPem", "The certificate of the authority."))),
			needed(replacing(text("certRequestPem", "The request.")))),
		Computed: append(signedOutputs(), needed(text("caKeyAlgorithm", "The algorithm of the authority's key."))),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			der, err := decode(c.Inputs.Text("certRequestPem"), "CERTIFICATE REQUEST")
			if err != nil {
				return native.Made{}, fmt.Errorf("certRequestPem: %w", err)
			}
			asked, err := x509.ParseCertificateRequest(der)
			if err != nil {
				return native.Made{}, fmt.Errorf("certRequestPem: %w", err)
			}
			authority, key, algorithm, err := readAuthority(c)
			if err != nil {
				return native.Made{}, err
			}
			template := &x509.Certificate{
				Subject: asked.Subject, DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses, URIs: asked.URIs,
			}
			made, err := sign(c.Inputs, template, authority, asked.PublicKey, key, now())
			if err == nil {
				made.Outputs["caKeyAlgorithm"] = native.Text(algorithm)
			}
			return made, err
		},
	}
	return renewed(r, now, "caPrivateKeyPem")
}

func readAuthority(c native.Call) (*x509.Certificate, crypto.Signer, string, error) {
	key, algorithm, err := givenKey(c.Inputs, "caPrivateKeyPem")
	if err != nil {
		return nil, nil, "", err
	}
	der, err := decode(c.Inputs.Text("caCertPem"), "CERTIFICATE")
	if err != nil {
		return nil, nil, "", fmt.Errorf("caCertPem: %w", err)
	}
	authority, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, "", fmt.Errorf("caCertPem: %w", err)
	}
	if !authority.IsCA {
		c.Log(native.Message{Warning: true, Text: "caCertPem is not the certificate of an authority; what it signs may not be accepted"})
	}
	return authority, key, algorithm, nil
}

func decode(text, kind string) ([]byte, error) {
	block, _ := pem.Decode([]byte(text))
	switch {
	case block == nil:
		return nil, errors.New("it is not PEM")
	case block.Type != kind:
		return nil, fmt.Errorf("it is PEM of type %q, not %q", block.Type, kind)
	}
	return block.Bytes, nil
}

// sign makes a certificate from a template; parent is nil for a self-signed one.
func sign(
	in native.Values, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer, now time.Time,
) (native.Made, error) {
	template.BasicConstraintsValid = true
	template.NotBefore, template.NotAfter = now, now.Add(time.Duration(in.Int("validityPeriodHours"))*time.Hour)
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return native.Made{}, err
	}
	template.SerialNumber = serial
	setUses(template, in.Texts("allowedUses"))
	if in.Bool("isCaCertificate") || in.Bool("setSubjectKeyId") {
		if template.SubjectKeyId, err = keyID(public); err != nil {
			return native.Made{}, err
		}
	}
	if in.Bool("isCaCertificate") {
		if len(template.Subject.ToRDNSequence()) == 0 {
			return native.Made{}, errors.New("the certificate of an authority needs a subject")
		}
		template.IsCA = true
	}
	if in.Has("maxPathLength") && in.Int("maxPathLength") >= 0 && template.IsCA {
		template.MaxPathLen = in.Int("maxPathLength")
		template.MaxPathLenZero = template.MaxPathLen == 0
	}
	if parent == nil {
		parent = template
	}
	if in.Bool("setAuthorityKeyId") {
		if len(parent.SubjectKeyId) == 0 {
			return native.Made{}, errors.New("setAuthorityKeyId needs a key identifier; set setSubjectKeyId or isCaCertificate too")
		}
		template.AuthorityKeyId = parent.SubjectKeyId
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return native.Made{}, err
	}
	return signed(template, der)
}

func signed(template *x509.Certificate, der []byte) (native.Made, error) {
	from, err1 := template.NotBefore.MarshalText()
	to, err2 := template.NotAfter.MarshalText()
	return native.Made{ID: template.SerialNumber.String(), Outputs: native.Outputs{
		"certPem": encodePEM("CERTIFICATE", der), "readyForRenewal": native.Bool(false),
		"validityStartTime": native.Text(string(from)), "validityEndTime": native.Text(string(to)),
	}}, errors.Join(err1, err2)
}

// keyID returns the SHA-1 of the public key's bits (RFC 5280 4.2.1.2), computed like in the public package.
func keyID(public crypto.PublicKey) ([]byte, error) {
	var bits []byte
	var err error
	switch k := public.(type) {
	case *rsa.PublicKey:
		bits, err = asn1.Marshal(*k)
	case *ecdsa.PublicKey:
		bits, err = k.Bytes()
	default:
		bits, err = asn1.Marshal(k)
	}
	sum := sha1.Sum(bits)
	return sum[:], err
}

// renewed makes r renew its certificate when renewal is due: earlyRenewalHours before its end.
func renewed(r native.Resource, now func() time.Time, key string) native.Resource {
	due := func(c native.Call, hours int) bool {
		end, err := time.Parse(time.RFC3339, c.State.Text("validityEndTime"))
		return err == nil && !end.Add(-time.Duration(hours)*time.Hour).After(now())
	}
	r.Diff = func(c native.Call, answer *providers.DiffResponse) {
		if c.Inputs.Has("earlyRenewalHours") && due(c, c.Inputs.Int("earlyRenewalHours")) {
			answer.Changes = providers.DiffSome
			answer.ReplaceKeys = append(answer.ReplaceKeys, "readyForRenewal")
			answer.DetailedDiff["readyForRenewal"] = providers.PropertyDiff{Kind: providers.DiffUpdateReplace}
		}
	}
	r.Read = func(_ context.Context, c native.Call) (native.Found, error) {
		found := native.Found{}
		if due(c, c.Inputs.Int("earlyRenewalHours")) {
			found.Outputs = native.Outputs{"readyForRenewal": native.Bool(true)}
		}
		return found, nil
	}
	r.Check = func(in native.Values) []providers.CheckFailure {
		return append(checkGivenKey(key)(in), checkSigned(in)...)
	}
	return r
}

func checkSigned(in native.Values) []providers.CheckFailure {
	var failures []providers.CheckFailure
	for name, least := range map[string]int{"earlyRenewalHours": 0, "validityPeriodHours": 0, "maxPathLength": -1} {
		if in.Has(name) && in.Int(name) < least {
			failures = append(failures, providers.CheckFailure{
				Property: name, Reason: fmt.Sprintf("%s is %d; it must be at least %d", name, in.Int(name), least),
			})
		}
	}
	slices.SortFunc(failures, func(a, b providers.CheckFailure) int { return strings.Compare(a.Property, b.Property) })
	for _, use := range in.Texts("allowedUses") {
		if _, ok := keyUses()[use]; !ok {
			if _, ok := extendedUses()[use]; !ok {
				failures = append(failures, providers.CheckFailure{
					Property: "allowedUses", Reason: fmt.Sprintf("%q is not a use; there are %v", use, allUses()),
				})
			}
		}
	}
	return failures
}

func setUses(template *x509.Certificate, uses []string) {
	for _, use := range uses {
		template.KeyUsage |= keyUses()[use]
		if extended, ok := extendedUses()[use]; ok {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		}
	}
}

func allUses() []string {
	var out []string
	for use := range keyUses() {
		out = append(out, use)
	}
	for use := range extendedUses() {
		out = append(out, use)
	}
	slices.Sort(out)
	return out
}

func keyUses() map[string]x509.KeyUsage {
	return map[string]x509.KeyUsage{
		"digital_signature": x509.KeyUsageDigitalSignature, "content_commitment": x509.KeyUsageContentCommitment,
		"key_encipherment": x509.KeyUsageKeyEncipherment, "data_encipherment": x509.KeyUsageDataEncipherment,
		"key_agreement": x509.KeyUsageKeyAgreement, "cert_signing": x509.KeyUsageCertSign, "crl_signing": x509.KeyUsageCRLSign,
		"encipher_only": x509.KeyUsageEncipherOnly, "decipher_only": x509.KeyUsageDecipherOnly,
	}
}

func extendedUses() map[string]x509.ExtKeyUsage {
	return map[string]x509.ExtKeyUsage{
		"any_extended": x509.ExtKeyUsageAny, "server_auth": x509.ExtKeyUsageServerAuth, "client_auth": x509.ExtKeyUsageClientAuth,
		"code_signing": x509.ExtKeyUsageCodeSigning, "email_protection": x509.ExtKeyUsageEmailProtection,
		"ipsec_end_system": x509.ExtKeyUsageIPSECEndSystem, "ipsec_tunnel": x509.ExtKeyUsageIPSECTunnel,
		"ipsec_user": x509.ExtKeyUsageIPSECUser, "timestamping": x509.ExtKeyUsageTimeStamping,
		"ocsp_signing": x509.ExtKeyUsageOCSPSigning, "microsoft_server_gated_crypto": x509.ExtKeyUsageMicrosoftServerGatedCrypto,
		"netscape_server_gated_crypto":      x509.ExtKeyUsageNetscapeServerGatedCrypto,
		"microsoft_commercial_code_signing": x509.ExtKeyUsageMicrosoftCommercialCodeSigning,
		"microsoft_kernel_code_signing":     x509.ExtKeyUsageMicrosoftKernelCodeSigning,
	}
}
