package install

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-iac/sluice/providers/plugin"
)

var noTime time.Time

// released describes a release on GitHub with one archive, which is at a URL of the API.
func released(digest string, names ...string) []byte {
	var r release
	r.Tag = "v1.2.3"
	for _, name := range append([]string{archiveName}, names...) {
		a := struct {
			Name   string `json:"name"`
			URL    string `json:"url"`
			Digest string `json:"digest"`
		}{Name: name, URL: "https://api.github.com/assets/" + name}
		if name == archiveName {
			a.Digest = digest
		}
		r.Assets = append(r.Assets, a)
	}
	text, _ := json.Marshal(r)
	return text
}

func TestEachSourceHasItsPlaces(t *testing.T) {
	const (
		page   = "github.com/pulumi/pulumi-thing/releases/download/v1.2.3/"
		public = "get.pulumi.com/releases/plugins/"
		api    = "api.github.com/repos/pulumi/pulumi-thing/releases/"
		sums   = "pulumi-thing_1.2.3_checksums.txt"
	)
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	refuseTokens := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			then(w, r)
		}
	}
	for name, c := range map[string]struct {
		source string
		env    map[string]string
		serve  func(n *internet, archive []byte)
		asks   []string // the requests, in this order
	}{
		"the page of the public repository": {
			serve: func(n *internet, a []byte) { n.has(page+archiveName, a) },
			asks:  []string{page + archiveName, page + sums, page + "checksums.txt"},
		},
		"the API where the page has nothing": {
			serve: func(n *internet, a []byte) {
				n.has(api+"tags/v1.2.3", released("sha256:"+digest(a)))
				n.has("api.github.com/assets/"+archiveName, a)
			},
			asks: []string{page + archiveName, api + "tags/v1.2.3", "api.github.com/assets/" + archiveName},
		},
		"the public host at last": {
			serve: func(n *internet, a []byte) { n.has(public+archiveName, a) },
			asks:  []string{page + archiveName, api + "tags/v1.2.3", public + archiveName},
		},
		"another host of GitHub, with a token that no other host sees": {
			source: "github://github.example/org/repo", env: map[string]string{"GITHUB_TOKEN": "abc"},
			serve: func(n *internet, a []byte) {
				var r release
				require.NoError(t, json.Unmarshal(released(""), &r))
				r.Assets[0].URL = "https://github.example/asset"
				text, _ := json.Marshal(r)
				n.has("github.example/repos/org/repo/releases/tags/v1.2.3", text)
				n.answer["github.example/asset"] = redirect("https://files.github.example/x")
				n.has("files.github.example/x", a)
			},
			asks: []string{"github.example/repos/org/repo/releases/tags/v1.2.3 with token abc", "github.example/asset with token abc", "files.github.example/x"},
		},
		"a token that is refused": {
			source: "github://github.example/org", env: map[string]string{"GITHUB_TOKEN": "abc"},
			serve: func(n *internet, a []byte) {
				const at = "github.example/repos/org/pulumi-thing/releases/tags/v1.2.3"
				n.has(at, released("sha256:"+digest(a)))
				n.answer[at] = refuseTokens(n.answer[at])
				n.has("api.github.com/assets/"+archiveName, a)
			},
			asks: []string{
				"github.example/repos/org/pulumi-thing/releases/tags/v1.2.3 with token abc", "github.example/repos/org/pulumi-thing/releases/tags/v1.2.3",
				"api.github.com/assets/" + archiveName,
			},
		},
		"GitLab": {
			source: "gitlab://gitlab.example/group/project", env: map[string]string{"GITLAB_TOKEN": "abc"},
			serve: func(n *internet, a []byte) {
				n.answer["gitlab.example/api/v4/projects/group/project/releases/v1.2.3/downloads/"+archiveName] = redirect("https://store.example/x")
				n.has("store.example/x", a)
				n.has("gitlab.example/api/v4/projects/group/project/releases/v1.2.3/downloads/checksums.txt", []byte(digest(a)+"  "+archiveName+"\n"))
			},
			asks: []string{
				"gitlab.example/api/v4/projects/group/project/releases/v1.2.3/downloads/" + archiveName + " with Bearer abc",
				"store.example/x",
				"gitlab.example/api/v4/projects/group/project/releases/v1.2.3/downloads/" + sums + " with Bearer abc",
				"gitlab.example/api/v4/projects/group/project/releases/v1.2.3/downloads/checksums.txt with Bearer abc",
			},
		},
		"a URL template": {
			source: "https://plugins.example/${NAME}/${VERSION}/${OS}/${ARCH}", env: map[string]string{"GITHUB_TOKEN": "abc"},
			serve: func(n *internet, a []byte) { n.has("plugins.example/thing/1.2.3/"+slashed()+"/"+archiveName, a) },
			asks: []string{
				"plugins.example/thing/1.2.3/" + slashed() + "/" + archiveName,
				"plugins.example/thing/1.2.3/" + slashed() + "/" + sums, "plugins.example/thing/1.2.3/" + slashed() + "/checksums.txt",
			},
		},
		"an override of the public place": {
			env:   map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": `^x$=https://no.example,^github://[^/]+/(?P<org>[^/]+)=https://own.example/${org}/${VERSION}/`},
			serve: func(n *internet, a []byte) { n.has("own.example/pulumi/1.2.3/"+archiveName, a) },
			asks:  []string{"own.example/pulumi/1.2.3/" + archiveName, "own.example/pulumi/1.2.3/" + sums, "own.example/pulumi/1.2.3/checksums.txt"},
		},
		"a mirror instead of any source": {
			source: "github://github.example/org", env: map[string]string{"SLUICE_PLUGIN_MIRROR": "https://own.example/all"},
			serve: func(n *internet, a []byte) { n.has("own.example/all/"+archiveName, a) },
			asks:  []string{"own.example/all/" + archiveName, "own.example/all/" + sums, "own.example/all/checksums.txt"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n, home := newInternet(t), t.TempDir()
			c.serve(n, good(t))
			r := wanted()
			r.Source = c.source
			p, err := n.installer(home, c.env).Install(t.Context(), r)
			require.NoError(t, err)
			require.Equal(t, Installed{Kind: plugin.Resource, Name: "thing", Version: "1.2.3", Directory: filepath.Join(home, "plugins", "resource-thing-v1.2.3")}, p)
			require.True(t, finds(t, home))
			require.Empty(t, remains(t, home))
			require.Equal(t, c.asks, n.requests())

			again, err := n.installer(home, c.env).Install(t.Context(), r)
			require.NoError(t, err)
			require.True(t, again.Present)
			require.Len(t, n.requests(), len(c.asks))
		})
	}
}

func slashed() string { return runtime.GOOS + "/" + runtime.GOARCH }

func TestAMirrorInAFolderNeedsNoNetwork(t *testing.T) {
	n, home, mirror := newInternet(t), t.TempDir(), t.TempDir()
	older := Request{Kind: plugin.Resource, Name: "thing", Version: "1.2.2"}
	newer := Request{Kind: plugin.Resource, Name: "thing", Version: "2.0.0-beta.1"}
	for _, name := range []string{archiveName, older.archive(), newer.archive(), "readme"} {
		require.NoError(t, os.WriteFile(filepath.Join(mirror, name), good(t), 0o600))
	}
	i := n.installer(home, map[string]string{"SLUICE_PLUGIN_MIRROR": mirror})
	r := wanted()
	r.Version = "" // the latest stable one
	p, err := i.Install(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, "1.2.3", p.Version)
	require.True(t, finds(t, home))

	require.NoError(t, os.WriteFile(filepath.Join(mirror, "checksums.txt"), []byte(digest([]byte("x"))+" *"+older.archive()), 0o600))
	_, err = i.Install(t.Context(), older)
	require.ErrorAs(t, err, new(*ChecksumError))

	_, err = i.Install(t.Context(), Request{Kind: plugin.Resource, Name: "thing", Version: "9.9.9"})
	require.ErrorContains(t, err, "there is no such file")
	require.Empty(t, n.requests())
}

func TestTheLatestVersionIsTheSources(t *testing.T) {
	for name, c := range map[string]struct{ source, latest, tag string }{
		"GitHub": {"", "api.github.com/repos/pulumi/pulumi-thing/releases/latest", "v1.2.3"},
		"GitLab": {"gitlab://gitlab.example/7", "gitlab.example/api/v4/projects/7/releases/permalink/latest", "1.2.3"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newInternet(t)
			n.has(c.latest, []byte(`{"tag_name": "`+c.tag+`"}`))
			r := wanted()
			r.Version, r.Source = "", c.source
			i := n.installer(t.TempDir(), nil)
			sources, err := i.sources(r)
			require.NoError(t, err)
			v, err := i.latest(t.Context(), r, sources)
			require.NoError(t, err)
			require.Equal(t, "1.2.3", v)
		})
	}
	r := wanted()
	r.Version, r.Source = "", "https://plugins.example"
	_, err := newInternet(t).installer(t.TempDir(), nil).Install(t.Context(), r)
	require.ErrorContains(t, err, "https://plugins.example: this source does not list versions")
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Request)
		env    map[string]string
		want   string
	}{
		"a kind":        {func(r *Request) { r.Kind = "resources" }, nil, `unknown kind of plugin "resources"; there are resource, language,`},
		"a name":        {func(r *Request) { r.Name = "../x" }, nil, `"../x"`},
		"a version":     {func(r *Request) { r.Version = "newest" }, nil, `"newest" is not a version such as 1.2.3`},
		"a scheme":      {func(r *Request) { r.Source = "ftp://x" }, nil, `plugins do not come from "ftp://x"`},
		"a repository":  {func(r *Request) { r.Source = "git://x.example/y" }, nil, `"git://x.example/y" names no repository`},
		"no owner":      {func(r *Request) { r.Source = "github://x.example" }, nil, "is not of the form github://<host>/<organization>"},
		"a longer path": {func(r *Request) { r.Source = "github://x.example/a/b/c" }, nil, "is not of the form github://"},
		"no project":    {func(r *Request) { r.Source = "gitlab://x.example" }, nil, "is not of the form gitlab://"},
		"an override":   {func(*Request) {}, map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "("}, `"(" is not of the form <regular expression>=<URL>`},
		"an expression": {func(*Request) {}, map[string]string{"PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES": "(=https://x"}, "PULUMI_PLUGIN_DOWNLOAD_URL_OVERRIDES: error parsing regexp"},
		"a mirror":      {func(*Request) {}, map[string]string{"SLUICE_PLUGIN_MIRROR": "/nowhere/at/all"}, `SLUICE_PLUGIN_MIRROR: "/nowhere/at/all" is not a folder`},
	} {
		t.Run(name, func(t *testing.T) {
			n, r := newInternet(t), wanted()
			c.change(&r)
			_, err := n.installer(t.TempDir(), c.env).Install(t.Context(), r)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, n.requests())
		})
	}
}

func TestTheLatestVersionIsAskedForOnce(t *testing.T) {
	n, r := newInternet(t), wanted()
	r.Version = ""
	_, err := n.installer(t.TempDir(), nil).Install(t.Context(), r)
	require.ErrorContains(t, err, "https://api.github.com/repos/pulumi/pulumi-thing/releases: 404 Not Found")
	require.Equal(t, []string{"api.github.com/repos/pulumi/pulumi-thing/releases/latest"}, n.requests())
}
