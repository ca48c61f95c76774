package std

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/ssh"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func secrets() []native.Function {
	return []native.Function{
		fn("bcrypt", "The bcrypt hash, with a cost of 10 by default. It is another one every time.", textType(),
			func(in native.Values) (property.Value, error) {
				cost := bcrypt.DefaultCost
				if in.Has("cost") {
					cost = in.Int("cost")
				}
				h, err := bcrypt.GenerateFromPassword([]byte(in.Text("input")), cost)
				return native.Text(string(h)), err
			}, optional("cost", native.Of(native.KindInteger)), arg("input", textType())),
		fn("rsadecrypt", "The text that was encrypted with an RSA key (PKCS #1 v1.5) and written in base64.", textType(), decrypt,
			arg("cipherText", textType()), arg("key", textType())),
		fn("uuid", "A random UUID, another one every time.", textType(), func(native.Values) (property.Value, error) {
			u, err := uuid.NewRandom()
			return native.Text(u.String()), err
		}),
	}
}

func decrypt(in native.Values) (property.Value, error) {
	cipher, err := base64.StdEncoding.DecodeString(in.Text("cipherText"))
	if err != nil {
		return property.Null, fmt.Errorf("cipherText: %w", err)
	}
	key, err := ssh.ParseRawPrivateKey([]byte(in.Text("key")))
	if err != nil {
		return property.Null, fmt.Errorf("key: %w", err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return property.Null, errors.New("key is not a private key of RSA")
	}
	//lint:ignore SA1019 the function is for texts that were encrypted so
	plain, err := rsa.DecryptPKCS1v15(nil, private, cipher)
	return native.Text(string(plain)), err
}
