package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-iac/sluice/source"
)

// Undeclared returns a remark about a setting that the project does not declare, with similar names of declared ones; "" if there is
// nothing to remark. Pulumi accepts such settings, and many projects declare none or only a few of theirs, so it is not an error.
// Settings in other namespaces belong to providers.
func (p *Project) Undeclared(k Key) string {
	if k.Namespace != p.Name || p.declaresElsewhere() {
		return ""
	}
	var own []string
	for _, d := range p.Declarations {
		if d.Key == k {
			return ""
		}
		if d.Key.Namespace == p.Name {
			own = append(own, d.Key.Name)
		}
	}
	if len(own) == 0 {
		return ""
	}
	text := fmt.Sprintf("the setting %q is not declared in %s", k.Name, filepath.Base(p.Path))
	if near := source.Near(k.Name, own); near != "" {
		return text + fmt.Sprintf("; did you mean %q?", near)
	}
	return text + "; it declares " + strings.Join(own, ", ")
}

// declaresElsewhere reports whether the program may declare settings too: a YAML program does so in a file of its own, or in a
// section with another name.
func (p *Project) declaresElsewhere() bool {
	if p.Runtime != "yaml" {
		return false
	}
	if p.configures || p.Main != "" {
		return true
	}
	for _, name := range []string{"Main.yaml", "Main.yml", "Main.json"} {
		if _, err := os.Stat(filepath.Join(p.Directory(), name)); err == nil {
			return true
		}
	}
	return false
}

// check returns an error if a setting does not match d.
func (d *Declaration) check(p *Project, stack string, v Value, decrypted func(Value) (Value, error)) error {
	if d.Secret && !HasSecrets(v) {
		return configErrorf("%s is declared secret in %s but stored in plain text on stack '%s'; set it with `sluice config set --secret %s`",
			d.Key, p.Path, stack, d.Key)
	}
	if d.Type == nil {
		return nil
	}
	plain, err := decrypted(v)
	if err != nil {
		return Undecryptable(d.Key, err)
	}
	if !d.Type.accepts(plain) {
		return configErrorf("the setting %s of stack '%s' must be of the type %s, as %s declares", d.Key, stack, d.Type, p.Path)
	}
	return nil
}

// Check returns an error if a setting does not match the project's declaration, as [Validate] does for all settings. decrypted
// returns the plain form of a value.
func (p *Project) Check(stack string, k Key, v Value, decrypted func(Value) (Value, error)) error {
	for _, d := range p.Declarations {
		if d.Key == k {
			return d.check(p, stack, v, decrypted)
		}
	}
	return nil
}
