package std

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

// disk is the file system as the program sees it.
type disk struct{ options native.Options }

func (d disk) files() []native.Function {
	encode64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	hex256, hex512 := digest(sha256.New, hex.EncodeToString), digest(sha512.New, hex.EncodeToString)
	return []native.Function{
		d.ofFile("file", "The content of a file.", func(s string) string { return s }),
		d.ofFile("filebase64", "The content of a file in base64.", encode64),
		d.ofFile("filemd5", "The MD5 of a file.", digest(md5.New, hex.EncodeToString)),
		d.ofFile("filesha1", "The SHA-1 of a file.", digest(sha1.New, hex.EncodeToString)),
		d.ofFile("filesha256", "The SHA-256 of a file.", hex256), d.ofFile("filesha512", "The SHA-512 of a file.", hex512),
		// The public package encodes the hexadecimal digits of the hash in base64, not its bytes.
		d.ofFile("filebase64sha256", "The base64 of the hexadecimal SHA-256 of a file.", func(s string) string { return encode64(hex256(s)) }),
		d.ofFile("filebase64sha512", "The base64 of the hexadecimal SHA-512 of a file.", func(s string) string { return encode64(hex512(s)) }),
		fn("fileexists", "Whether there is a file.", flagType(), func(in native.Values) (property.Value, error) {
			info, err := os.Stat(d.options.Path(in.Text("input")))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return native.Bool(false), nil
			case err == nil && info.IsDir():
				err = errors.New(in.Text("input") + " is a directory and not a file")
			}
			return native.Bool(true), err
		}, arg("input", textType())),
	}
}

func (d disk) ofFile(name, doc string, f func(string) string) native.Function {
	return ofTextOrError(name, doc, func(path string) (string, error) {
		b, err := os.ReadFile(d.options.Path(path))
		if err != nil {
			return "", err
		}
		return f(string(b)), nil
	})
}

func (d disk) paths() []native.Function {
	return []native.Function{
		ofTextOrError("abspath", "The path from the root.", func(s string) (string, error) { return filepath.Abs(d.options.Path(s)) }),
		ofText("basename", "The last part of a path.", filepath.Base), ofText("dirname", "A path without its last part.", filepath.Dir),
		ofTextOrError("pathexpand", "A path with the user's directory for a ~ at its beginning.", func(s string) (string, error) {
			rest, ok := strings.CutPrefix(s, "~")
			if !ok || rest != "" && !os.IsPathSeparator(rest[0]) {
				return s, nil
			}
			home, err := os.UserHomeDir()
			return filepath.Join(home, rest), err
		}),
	}
}
