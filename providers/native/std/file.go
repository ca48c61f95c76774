package std

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"io"
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
	// The public package encodes the hexadecimal digits of the hash in base64, not its bytes.
	base64OfHex := func(sum []byte) string { return encode64(hex.EncodeToString(sum)) }
	return []native.Function{
		d.ofFile("file", "The content of a file.", func(s string) string { return s }),
		d.ofFile("filebase64", "The content of a file in base64.", encode64),
		d.hashOfFile("filemd5", "The MD5 of a file.", md5.New, hex.EncodeToString),
		d.hashOfFile("filesha1", "The SHA-1 of a file.", sha1.New, hex.EncodeToString),
		d.hashOfFile("filesha256", "The SHA-256 of a file.", sha256.New, hex.EncodeToString),
		d.hashOfFile("filesha512", "The SHA-512 of a file.", sha512.New, hex.EncodeToString),
		d.hashOfFile("filebase64sha256", "The base64 of the hexadecimal SHA-256 of a file.", sha256.New, base64OfHex),
		d.hashOfFile("filebase64sha512", "The base64 of the hexadecimal SHA-512 of a file.", sha512.New, base64OfHex),
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
		b, err := property.ReadFile(d.options.Path(path))
		if err != nil {
			return "", err
		}
		return f(string(b)), nil
	})
}

func (d disk) hashOfFile(name, doc string, make func() hash.Hash, write func([]byte) string) native.Function {
	return ofTextOrError(name, doc, func(path string) (string, error) {
		f, err := property.AssetReader{}.Open(context.Background(), property.Asset{Kind: property.KindPath, Path: d.options.Path(path)})
		if err != nil {
			return "", err
		}
		defer f.Close()
		h := make()
		if _, err := io.Copy(h, f); err != nil {
			return "", err
		}
		return write(h.Sum(nil)), nil
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
