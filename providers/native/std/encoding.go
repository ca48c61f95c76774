package std

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func encodings() []native.Function {
	encode64 := base64.StdEncoding.EncodeToString
	return []native.Function{
		ofText("base64encode", "Base64.", func(s string) string { return encode64([]byte(s)) }),
		ofTextOrError("base64decode", "The text that base64 stands for.", func(s string) (string, error) {
			b, err := base64.StdEncoding.DecodeString(s)
			if err == nil && !utf8.Valid(b) {
				err = errors.New("the bytes are not UTF-8 text")
			}
			return string(b), err
		}),
		ofTextOrError("base64gzip", "The base64 of the compressed text.", func(s string) (string, error) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write([]byte(s))
			// The flush changes the bytes, which must be those of the public package.
			err = errors.Join(err, z.Flush(), z.Close())
			return encode64(b.Bytes()), err
		}),
		ofText("md5", "The MD5 in hexadecimal digits.", digest(md5.New, hex.EncodeToString)),
		ofText("sha1", "The SHA-1 in hexadecimal digits.", digest(sha1.New, hex.EncodeToString)),
		ofText("sha256", "The SHA-256 in hexadecimal digits.", digest(sha256.New, hex.EncodeToString)),
		ofText("sha512", "The SHA-512 in hexadecimal digits.", digest(sha512.New, hex.EncodeToString)),
		ofText("base64sha256", "The SHA-256 in base64.", digest(sha256.New, encode64)),
		ofText("base64sha512", "The SHA-512 in base64.", digest(sha512.New, encode64)),
		ofText("urlencode", "A text as the query of a URL has it.", url.QueryEscape),
		fn("csvdecode", "The rows of a CSV text (RFC 4180) as objects with the names that the first row gives.",
			native.ArrayOf(native.MapOf(textType())), decodeCSV, arg("input", textType())),
		fn("jsonencode", "JSON.", textType(), func(in native.Values) (property.Value, error) {
			text, err := json.Marshal(toGo(in.Value("input")))
			return native.Text(string(text)), err
		}, arg("input", anyType())),
		fn("jsondecode", "The value that JSON stands for; a text that is no JSON is itself.", anyType(),
			func(in native.Values) (property.Value, error) {
				var v any
				if err := json.Unmarshal([]byte(in.Text("input")), &v); err != nil {
					return in.Value("input"), nil //nolint:nilerr // as the description of the function says
				}
				return property.FromJSON(context.Background(), v, property.StateDecodeOptions{})
			}, arg("input", textType())),
	}
}

func digest(make func() hash.Hash, write func([]byte) string) func(string) string {
	return func(s string) string {
		h := make()
		_, _ = h.Write([]byte(s))
		return write(h.Sum(nil))
	}
}

func decodeCSV(in native.Values) (property.Value, error) {
	r := csv.NewReader(strings.NewReader(in.Text("input")))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil {
		return property.Null, err
	}
	var out []property.Value
	for i, row := range rows {
		if i == 0 {
			continue
		}
		object := native.Outputs{}
		for column, text := range row {
			name := strings.TrimSpace(rows[0][column])
			if _, twice := object[name]; twice {
				return property.Null, fmt.Errorf("two columns are called %q", name)
			}
			object[name] = native.Text(strings.TrimSpace(text))
		}
		out = append(out, native.Object(object))
	}
	return property.ArrayOf(out...), nil
}

// toGo converts a value as package encoding/json decodes its JSON. Values without JSON, such as assets, become nil.
func toGo(v property.Value) any {
	switch {
	case v.IsString():
		return v.AsString()
	case v.IsNumber():
		return v.AsNumber()
	case v.IsBool():
		return v.AsBool()
	case v.IsArray():
		out := []any{}
		for _, e := range v.AsArray().All() {
			out = append(out, toGo(e))
		}
		return out
	case v.IsMap():
		out := map[string]any{}
		for name, e := range v.AsMap().All() {
			out[name] = toGo(e)
		}
		return out
	}
	return nil
}
