package main

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/settings"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/workspace"
	"github.com/sluice-iac/sluice/property"
)

func newConfigEncryptCommand(open *session.Opener, f *flags.Stack) *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:   "encrypt <key>...",
		Short: "Encrypt settings where they are",
		Long: "Encrypt settings that the stack's file has in plain text. The values, their places and the comments stay as they are.\n\n" +
			"In a structured setting, every text is encrypted, and numbers and booleans stay: they would become texts. With --path,\n" +
			"a key is a path to a part of a setting, such as servers[0].password.\n\n" +
			"Earlier versions of the file, in version control or elsewhere, still have the plain text: replace a secret that others\n" +
			"may have seen.",
		Example: "  sluice config encrypt dbPassword\n  sluice config encrypt --path 'servers[0].password' 'servers[1].password'",
		Args:    leastArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return encryptConfig(cmd.Context(), open, f, args, path)
		},
	}
	cmd.Flags().BoolVar(&path, "path", false, "the keys are paths to parts of settings, such as a.b[0]")
	return cmd
}

func encryptConfig(ctx context.Context, open *session.Opener, f *flags.Stack, names []string, path bool) error {
	s, err := open.Stack(ctx, f.Name, f.ConfigFile)
	if err != nil {
		return err
	}
	before := maps.Clone(s.Settings.Values())
	for _, name := range names {
		key, err := workspace.ParseSettingKey(name, s.Session.Project.Name, path)
		if err != nil {
			return err
		}
		if err := encryptSetting(ctx, s, key, path); err != nil {
			return err
		}
	}
	return settings.Save(ctx, s, before)
}

// encryptSetting encrypts the texts of a setting, or of a part of one, in the settings in memory.
func encryptSetting(ctx context.Context, s *session.Stack, key workspace.Key, path bool) error {
	root := property.Path{{Key: key.Name}}
	if path {
		var err error
		if root, err = property.ParsePathStrict(key.Name); err != nil {
			return err
		}
	}
	value, there, err := workspace.ValueAt(s.Settings.Values(), workspace.Key{Namespace: key.Namespace, Name: root.String()})
	if err != nil {
		return err
	}
	short := key.Short(s.Session.Project.Name)
	if !there {
		return exit.Usagef("the file of stack %s has no setting %s; `sluice config` lists the settings", s.Name(), short)
	}
	leaves := texts(value, root)
	switch {
	case len(leaves) > 0 || workspace.IsSealed(value):
	case workspace.IsObject(value):
		return exit.Usagef("%s has no text to encrypt", short)
	default:
		leaves = []leaf{{root, workspace.Text(value)}}
	}
	for _, leaf := range leaves {
		at := workspace.Key{Namespace: key.Namespace, Name: leaf.path.String()}
		sealed, err := settings.Store(ctx, s, settings.Storage{Secret: true}, at, leaf.text)
		if err != nil {
			return err
		}
		if err := s.Settings.SetPath(at, sealed); err != nil {
			return err
		}
	}
	return nil
}

// leaf is a text inside a structured setting.
type leaf struct {
	path property.Path
	text string
}

// texts returns the texts in a value that are not encrypted, in the order of their paths.
func texts(v workspace.Value, at property.Path) []leaf {
	var out []leaf
	switch v := v.(type) {
	case string:
		out = append(out, leaf{at, v})
	case []any:
		for i, e := range v {
			out = append(out, texts(e, append(slices.Clone(at), property.Element{Index: i, IsIndex: true}))...)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, texts(v[k], append(slices.Clone(at), property.Element{Key: k}))...)
		}
	}
	return out
}
