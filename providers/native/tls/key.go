package tls

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
	"golang.org/x/crypto/ssh"
)

func curves() map[string]elliptic.Curve {
	return map[string]elliptic.Curve{
		"P224": elliptic.P224(), "P256": elliptic.P256(), "P384": elliptic.P384(), "P521": elliptic.P521(),
	}
}

func privateKey() native.Resource {
	return native.Resource{
		Type: token("PrivateKey"), SchemaVersion: "1", Doc: "A private key with its public one.",
		Inputs: []native.Field{
			needed(replacing(text("algorithm", "RSA, ECDSA or ED25519."))),
			byDefault(replacing(text("ecdsaCurve", "P224, P256, P384 or P521.")), native.Text("P224")),
			byDefault(replacing(number("rsaBits", "The size of an RSA key.")), native.Int(2048)),
		},
		Computed: append([]native.Field{
			needed(secret(text("privateKeyOpenssh", "The private key as OpenSSH writes it; empty for the curve P224."))),
			needed(secret(text("privateKeyPem", "The private key as PEM."))),
			needed(secret(text("privateKeyPemPkcs8", "The private key as PEM of PKCS #8."))),
		}, publicKeyFields()...),
		Check: checkKey,
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			key, err := generate(c.Inputs)
			if err != nil {
				return native.Made{}, err
			}
			return encode(key)
		},
	}
}

func publicKeyFields() []native.Field {
	return []native.Field{
		needed(text("publicKeyFingerprintMd5", "The MD5 fingerprint as OpenSSH writes it.")),
		needed(text("publicKeyFingerprintSha256", "The SHA-256 fingerprint as OpenSSH writes it.")),
		needed(text("publicKeyOpenssh", "The public key as a line of authorized_keys.")),
		needed(text("publicKeyPem", "The public key as PEM.")),
	}
}

func checkKey(in native.Values) []providers.CheckFailure {
	var failures []providers.CheckFailure
	switch in.Text("algorithm") {
	case "RSA", "ECDSA", "ED25519":
	default:
		if in.Has("algorithm") {
			failures = append(failures, providers.CheckFailure{
				Property: "algorithm", Reason: fmt.Sprintf("%q is not an algorithm; there are RSA, ECDSA and ED25519", in.Text("algorithm")),
			})
		}
	}
	if _, ok := curves()[in.Text("ecdsaCurve")]; !ok && in.Has("ecdsaCurve") {
		failures = append(failures, providers.CheckFailure{
			Property: "ecdsaCurve", Reason: fmt.Sprintf("%q is not a curve; there are P224, P256, P384 and P521", in.Text("ecdsaCurve")),
		})
	}
	return failures
}

func generate(in native.Values) (crypto.Signer, error) {
	switch in.Text("algorithm") {
	case "RSA":
		return rsa.GenerateKey(rand.Reader, in.Int("rsaBits"))
	case "ECDSA":
		return ecdsa.GenerateKey(curves()[in.Text("ecdsaCurve")], rand.Reader)
	default:
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
}

// encode writes a key in every notation.
func encode(key crypto.Signer) (native.Made, error) {
	block, err := traditional(key)
	if err != nil {
		return native.Made{}, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return native.Made{}, err
	}
	id, outputs, err := publicKey(key)
	if err != nil {
		return native.Made{}, err
	}
	outputs["privateKeyPem"] = native.Text(string(pem.EncodeToMemory(block)))
	outputs["privateKeyPemPkcs8"] = encodePEM("PRIVATE KEY", pkcs8)
	outputs["privateKeyOpenssh"] = native.Text("")
	if k, ok := key.(*ecdsa.PrivateKey); !ok || k.Curve != elliptic.P224() { // OpenSSH does not have this curve
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			return native.Made{}, err
		}
		outputs["privateKeyOpenssh"] = native.Text(string(pem.EncodeToMemory(block)))
	}
	return native.Made{ID: id, Outputs: outputs}, nil
}

// traditional writes a key in the form of its algorithm, or in PKCS #8 if the algorithm has no form of its own.
func traditional(key crypto.Signer) (*pem.Block, error) {
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)}, nil
	case *ecdsa.PrivateKey:
		der, err := x509.MarshalECPrivateKey(k)
		return &pem.Block{Type: "EC PRIVATE KEY", Bytes: der}, err
	default:
		der, err := x509.MarshalPKCS8PrivateKey(k)
		return &pem.Block{Type: "PRIVATE KEY", Bytes: der}, err
	}
}

func encodePEM(kind string, der []byte) property.Value {
	return native.Text(string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
}

// publicKey returns the ID of a key, which is the hash of its public key, and the outputs of the public key. The OpenSSH
// outputs are empty for keys that OpenSSH does not support.
func publicKey(key crypto.Signer) (id string, outputs native.Outputs, err error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return "", nil, err
	}
	outputs = native.Outputs{
		"publicKeyPem": encodePEM("PUBLIC KEY", der), "publicKeyOpenssh": native.Text(""),
		"publicKeyFingerprintMd5": native.Text(""), "publicKeyFingerprintSha256": native.Text(""),
	}
	if k, err := ssh.NewPublicKey(key.Public()); err == nil {
		outputs["publicKeyOpenssh"] = native.Text(string(ssh.MarshalAuthorizedKey(k)))
		outputs["publicKeyFingerprintMd5"] = native.Text(ssh.FingerprintLegacyMD5(k))
		outputs["publicKeyFingerprintSha256"] = native.Text(ssh.FingerprintSHA256(k))
	}
	return hash(der), outputs, nil
}

// hash returns an ID in the form of the public package.
func hash(b []byte) string {
	sum := sha1.Sum([]byte(strings.TrimSpace(string(b))))
	return hex.EncodeToString(sum[:])
}

// parseKey reads a PEM private key in any form, and returns the name of its algorithm.
func parseKey(text string) (crypto.Signer, string, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, "", errors.New("the private key is not PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "OPENSSH PRIVATE KEY":
		key, err = ssh.ParseRawPrivateKey([]byte(text))
	default:
		err = fmt.Errorf("PEM of type %q is not a private key", block.Type)
	}
	if err != nil {
		return nil, "", err
	}
	switch k := key.(type) {
	case *rsa.PrivateKey:
		return k, "RSA", nil
	case *ecdsa.PrivateKey:
		return k, "ECDSA", nil
	case ed25519.PrivateKey:
		return k, "ED25519", nil
	case *ed25519.PrivateKey:
		return *k, "ED25519", nil
	}
	return nil, "", fmt.Errorf("a private key of type %T is not supported", key)
}

// keyInputs returns the inputs for a private key: a recorded one, or an unrecorded one with a version.
func keyInputs(name string) []native.Field {
	unrecorded := secret(text(name+"Wo", "The private key, which is recorded nowhere but among the inputs, as a secret."))
	unrecorded.Output = native.Unrecorded
	return []native.Field{
		replacing(secret(text(name, "The private key."))), unrecorded,
		replacing(number(name+"WoVersion", "Another number says that "+name+"Wo is another key.")),
	}
}

func checkGivenKey(name string) func(native.Values) []providers.CheckFailure {
	return func(in native.Values) []providers.CheckFailure {
		given, unrecorded := !in.Value(name).IsNull(), !in.Value(name+"Wo").IsNull()
		switch {
		case given == unrecorded:
			return []providers.CheckFailure{{Property: name, Reason: fmt.Sprintf("give exactly one of %s and %sWo", name, name)}}
		case unrecorded && in.Value(name+"WoVersion").IsNull():
			return []providers.CheckFailure{{Property: name + "WoVersion", Reason: fmt.Sprintf("%sWo needs %sWoVersion", name, name)}}
		}
		return nil
	}
}

func givenKey(in native.Values, name string) (crypto.Signer, string, error) {
	key, algorithm, err := parseKey(in.Text(name) + in.Text(name+"Wo"))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return key, algorithm, nil
}

func getPublicKey() native.Function {
	inputs := []native.Field{
		secret(text("privateKeyOpenssh", "The private key as OpenSSH writes it.")), secret(text("privateKeyPem", "The private key as PEM.")),
	}
	return native.Function{
		Token: "tls:index/getPublicKey:getPublicKey", Doc: "The public key of a private one.", Inputs: inputs,
		Outputs: append(append([]native.Field{
			needed(text("algorithm", "RSA, ECDSA or ED25519.")), needed(text("id", "The hash of the public key.")),
		}, inputs...), publicKeyFields()...),
		Call: func(_ context.Context, c native.Call) (native.Outputs, error) {
			if c.Inputs.Has("privateKeyPem") == c.Inputs.Has("privateKeyOpenssh") {
				return nil, errors.New("give exactly one of privateKeyPem and privateKeyOpenssh")
			}
			key, algorithm, err := parseKey(c.Inputs.Text("privateKeyPem") + c.Inputs.Text("privateKeyOpenssh"))
			if err != nil {
				return nil, err
			}
			id, outputs, err := publicKey(key)
			if err == nil {
				outputs["id"], outputs["algorithm"] = native.Text(id), native.Text(algorithm)
			}
			return outputs, err
		},
	}
}
