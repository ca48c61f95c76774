package spec

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	name         = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*$`)
	fullName     = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*(/[a-zA-Z0-9_][a-zA-Z0-9._-]*){0,2}$`)
	settingName  = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_-]*(:[a-zA-Z0-9_][a-zA-Z0-9_.\[\]"-]*)?$`)
	variableName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*\*?$`)
	ref          = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._/+-]*$`)
	sshAddress   = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]*@[a-zA-Z0-9][a-zA-Z0-9.-]*:[a-zA-Z0-9._~][a-zA-Z0-9._~/-]*$`)
)

const longest = 100

// The following functions describe the mistake in a text, and return "" if there is none.

func safeName(text string) string {
	switch {
	case len(text) > longest:
		return "it has more than 100 characters"
	case !name.MatchString(text):
		return "names consist of letters, digits, dots, dashes and underscores, and begin with a letter, a digit or an underscore"
	}
	return ""
}

func stackName(text string) string {
	if len(text) > 3*longest || !fullName.MatchString(text) {
		return "write the name of a stack, or organization/project/stack"
	}
	return ""
}

// folder refuses paths that leave the folder that they are relative to. It does not follow links; the code that opens
// the path does.
func folder(text string) string {
	switch {
	case strings.ContainsAny(text, "\\\x00\n\r"):
		return "write it with slashes"
	case path.IsAbs(text) || !filepath.IsLocal(filepath.FromSlash(text)):
		return "it must be below the folder of fleet.yaml"
	case strings.HasPrefix(text, "-"):
		return "it must not begin with a dash"
	}
	return ""
}

func repository(text string) string {
	if strings.ContainsAny(text, " \t\n\r\x00\\'\"`$;|&<>") {
		return "it has characters that no URL of a repository has"
	}
	if sshAddress.MatchString(text) {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil {
		return "it is not a URL"
	}
	if _, has := u.User.Password(); has {
		return "it has a password, and fleet.yaml is no place for secrets: use the credential helper of git or an SSH key on the workers"
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "ssh" && u.Scheme != "file":
		return "write an https, ssh or file URL, or user@host:path"
	case u.Scheme == "https" && u.User != nil:
		return "it has the name of a user, which can be a token: use the credential helper of git on the workers"
	case u.Scheme != "file" && (u.Host == "" || strings.HasPrefix(u.Host, "-")) || u.User != nil && strings.HasPrefix(u.User.Username(), "-"):
		return "it has no host"
	}
	return ""
}

func revision(text string) string {
	if len(text) > 2*longest || !ref.MatchString(text) || strings.Contains(text, "..") || strings.HasSuffix(text, ".lock") {
		return "write a branch, a tag or a commit"
	}
	return ""
}
