package codegen

import (
	"strings"

	"github.com/sluice-iac/sluice/urn"
)

// nameOfToken returns the last part of a token.
func nameOfToken(t urn.Type) string {
	s := string(t)
	return s[strings.LastIndexByte(s, ':')+1:]
}

// moduleOfToken returns the middle part of a token.
func moduleOfToken(t urn.Type) string {
	parts := strings.Split(string(t), ":")
	if len(parts) != 3 {
		return ""
	}
	return parts[1]
}

// shortToken returns the short form of a token: "aws:s3:Bucket" for "aws:s3/bucket:Bucket".
func shortToken(t urn.Type) urn.Type {
	parts := strings.Split(string(t), ":")
	if len(parts) != 3 || t.IsProvider() {
		return t
	}
	module := parts[1]
	if before, last, ok := strings.Cut(module, "/"); ok && last == strings.ToLower(parts[2][:1])+parts[2][1:] {
		module = before
	}
	if module == "index" {
		return urn.Type(parts[0] + ":" + parts[2])
	}
	return urn.Type(parts[0] + ":" + module + ":" + parts[2])
}

// lastSegment returns the token at the end of a reference such as "#/types/<token>".
func lastSegment(ref string) urn.Type {
	const prefix = "#/types/"
	if len(ref) > len(prefix) && ref[:len(prefix)] == prefix {
		return urn.Type(ref[len(prefix):])
	}
	return urn.Type(ref)
}
