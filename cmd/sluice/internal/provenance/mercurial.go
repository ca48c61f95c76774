package provenance

import (
	"bufio"
	"cmp"
	"context"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sourcegraph/conc"

	"github.com/sluice-iac/sluice/providers/plugin"
)

// mercurial is a directory in a Mercurial repository. Its description has the names of git's.
type mercurial struct{ root, directory string }

func hasMercurial() bool {
	_, err := exec.LookPath("hg")
	return err == nil
}

// described returns the description from Mercurial, in which the author is also the committer.
func (m mercurial) described(ctx context.Context, j job) (map[string]string, string) {
	const separator = `\x1f`
	var commit, changes string
	var known bool
	var asking conc.WaitGroup
	asking.Go(func() {
		commit, _ = m.hg(ctx, "log", "-r", ".", "--template", strings.Join([]string{"{node}", "{branch}", "{author}", "{desc}"}, separator))
	})
	asking.Go(func() { changes, known = m.hg(ctx, "status") })
	asking.Wait()

	out := map[string]string{}
	fields := strings.SplitN(commit, "\x1f", 4)
	if len(fields) != 4 || strings.Trim(fields[0], "0") == "" {
		return out, "" // there is no commit yet
	}
	out[head], out[headName] = fields[0], cmp.Or(j.branch, fields[1])
	name, address := fields[2], ""
	if a, err := mail.ParseAddress(fields[2]); err == nil {
		name, address = a.Name, a.Address
	}
	for key, text := range map[string]string{author: name, authorEmail: address} {
		if text != "" {
			out[key] = text
		}
	}
	if known {
		out[dirty] = strconv.FormatBool(changes != "")
	}
	if owner, name, kind, is := hosted(m.origin()); is {
		out[vcsOwner], out[vcsRepo], out[vcsKind] = owner, name, kind
	}
	if below, err := filepath.Rel(m.root, m.directory); err == nil {
		out[vcsRoot] = filepath.ToSlash(below)
	}
	return out, firstLine(cmp.Or(strings.TrimSpace(fields[3]), j.message))
}

// origin returns the default address of the repository, "" if it has none.
func (m mercurial) origin() string {
	f, err := os.Open(filepath.Join(m.root, ".hg", "hgrc"))
	if err != nil {
		return ""
	}
	defer f.Close()
	section := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if key, address, is := strings.Cut(line, "="); is && section == "[paths]" && strings.TrimSpace(key) == "default" {
			return strings.TrimSpace(address)
		}
	}
	return ""
}

// hg returns the output of Mercurial, and whether it succeeded. It ignores the configuration in the repository, which can name programs.
func (m mercurial) hg(ctx context.Context, args ...string) (string, bool) {
	path, err := exec.LookPath("hg")
	if err != nil {
		return "", false
	}
	text, _, exit, err := plugin.Output(ctx, plugin.Command{
		Name: "hg", Executable: path, Directory: m.root, Environment: append(os.Environ(), "HGPLAIN=1", "HGRCSKIPREPO=1", "HGENCODING=utf-8"), Args: args,
	})
	return text, err == nil && exit.Code == 0
}
