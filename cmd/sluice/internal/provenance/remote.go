package provenance

import (
	"net/url"
	"regexp"
	"strings"
	"sync"
)

const azure = "dev.azure.com"

// asCopied matches the address of a repository in the form of scp: "git@github.com:owner/name.git".
var asCopied = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[^@/]+@)?([^:/]+):(.+)$`) })

// oldAzure matches the host of an organization that has kept its former address.
var oldAzure = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-zA-Z0-9-]+)\.visualstudio\.com$`) })

// hosted returns the owner, the name and the host of a repository. is reports whether its address contains them.
func hosted(address string) (owner, name, kind string, is bool) {
	path := ""
	if u, err := url.Parse(address); err == nil && u.Scheme != "" && u.Host != "" {
		if u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "ssh" {
			return "", "", "", false
		}
		kind, path = u.Host, u.Path
		if u.Scheme == "ssh" {
			kind = u.Hostname()
		}
	} else if m := asCopied().FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		kind, path = m[1], m[2]
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if kind == "ssh."+azure {
		_, path, _ = strings.Cut(path, "/") // drop the version of the protocol
		kind = azure
	}
	if m := oldAzure().FindStringSubmatch(kind); m != nil {
		return m[1], path, azure, path != ""
	}
	owner, name, is = strings.Cut(path, "/")
	if kind == azure && is && !strings.Contains(name, "_git") {
		project, repo, found := strings.Cut(name, "/")
		name, is = project+"/_git/"+repo, found
	}
	return owner, name, kind, is && owner != "" && name != ""
}
