package main

import (
	"errors"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/flags"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/session"
)

// doFlags are the flags of `do` that do not depend on the package.
type doFlags struct {
	pkg, server                     string
	inputFile, providerFile, format string
	provider, stack                 string
	dryRun, stateless, yes          bool
	showSecrets, json, all          bool
	count                           int64
}

// newDoCommand returns the command `do`. Its flags depend on the package, so it parses them itself: at first those that are known, and when the
// schema is there, all of them. prepare applies the global flags.
func newDoCommand(open *session.Opener, prepare func(*cobra.Command) error) *cobra.Command {
	f := &doFlags{}
	cmd := &cobra.Command{
		Use:   "do TOKEN [OPERATION [ID]]",
		Short: "Call a function of a provider, or work on one object, without a program",
		Long: "Call a function of a provider, or create, read, change, delete or list objects, without a program and without a state.\n\n" +
			"    do PACKAGE, do PACKAGE:MODULE       list what the package or the module has\n" +
			"    do FUNCTION                         call a function and print its result as JSON\n" +
			"    do RESOURCE read ID                 show an object\n" +
			"    do RESOURCE list                    list objects as JSON, if the provider can: the first page, --all, or --count\n" +
			"    do RESOURCE create --stateless      create an object and show it with its ID\n" +
			"    do RESOURCE patch ID --stateless    change the given inputs of an object\n" +
			"    do RESOURCE upsert ID --stateless   replace all inputs of an object; without the object, create one\n" +
			"    do RESOURCE delete ID --stateless   delete an object\n\n" +
			"`do TOKEN --help` describes a function or a resource. In a token, the module \"index\" may be left out, and of\n" +
			"\"s3/bucket\" the last part: aws:s3:Bucket. Missing plugins are installed.\n\n" +
			"Inputs come from the file of --input-file, in YAML or JSON, and from flags: --NAME takes a text, a number or true\n" +
			"as it is written, --NAME+ a value in YAML, as in --tags+ '{team: web}'. --input:NAME is the same where another flag has\n" +
			"the name. In YAML, fn::secret and the functions for assets and archives can be used. The settings of the provider come\n" +
			"from its environment variables, from the recorded provider of --provider, from --provider-file and from flags\n" +
			"--PACKAGE:NAME, the later ones first.\n\n" +
			"Nothing is recorded: no state knows what `do` creates, and `do` can change objects behind the back of a stack. So what\n" +
			"changes something needs --stateless, and asks for confirmation unless --yes is given. --dry-run only shows what would\n" +
			"happen. Ctrl-C asks the provider to abort; an error says whether an object exists, and its ID.",
		Example: "  sluice do random\n  sluice do random:RandomPet create --stateless --length 3 --yes\n" +
			"  sluice do aws:s3:Bucket read my-bucket --output json",
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
	}
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := parseKnown(cmd, args); err != nil {
			return err
		}
		return prepare(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		words := cmd.Flags().Args() // of the flags that are known so far
		if len(words) == 0 && f.pkg == "" {
			return cmd.Help()
		}
		if f.pkg == "" && words[0] == "show-resources" { // Pulumi's; no package has this name
			return exit.Usagef("`%s show-resources`: sluice records no resources that `do` has made\n`%s do PACKAGE:MODULE:RESOURCE list` lists the objects there are",
				cmd.CommandPath(), cmd.Root().Name())
		}
		return do(cmd, open, f, args, words)
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *doFlags) add(set *pflag.FlagSet) {
	set.StringVar(&f.pkg, "package", "", "the `source` of the package, if it is not the one of the token, with its parameters: \"NAME@VERSION PARAMETER...\", or a folder or executable")
	set.StringVar(&f.server, "server", "", "the URL where a missing plugin comes from")
	set.BoolVar(&f.stateless, "stateless", false, "change objects directly with the provider, and record nothing; create, patch, upsert and delete need this")
	set.BoolVar(&f.dryRun, "dry-run", false, "only show what would happen")
	flags.AddYes(set, &f.yes, "do not ask for confirmation")
	set.BoolVar(&f.showSecrets, "show-secrets", false, "show secret values")
	flags.AddJSON(set, &f.json, "write JSON")
	set.StringVar(&f.inputFile, "input-file", "", "the `file` with the inputs; - is the standard input")
	set.StringVar(&f.format, "input", "yaml", "the format of the files and of --NAME+: yaml or json")
	set.StringVar(&f.providerFile, "provider-file", "", "the `file` with the settings of the provider")
	set.StringVar(&f.provider, "provider", "", "take the settings of the provider with this `URN` in the state of the stack")
	flags.AddStack(set, &f.stack)
	set.BoolVar(&f.all, "all", false, "list all objects")
	set.Int64Var(&f.count, "count", 0, "list at most this many objects")
}

// parseKnown parses the flags that do not depend on the package, and ignores the others.
func parseKnown(cmd *cobra.Command, args []string) error {
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // adds them to those of the command
	set := cmd.Flags()
	set.ParseErrorsAllowlist.UnknownFlags = true
	err := set.Parse(args)
	set.ParseErrorsAllowlist.UnknownFlags = false
	if err != nil {
		return wrongFlag(cmd, err)
	}
	return nil
}

// source returns the source of the package and its parameters.
func (f *doFlags) source(token string) (from string, parameters []string, err error) {
	if f.pkg == "" {
		pkg, _, _ := strings.Cut(token, ":")
		return pkg, nil, nil
	}
	words, err := shellquote.Split(f.pkg)
	if err == nil && len(words) == 0 {
		err = errors.New("write the name of a package, a folder or an executable")
	}
	if err != nil {
		return "", nil, exit.Usagef("--package: %w", err)
	}
	return words[0], words[1:], nil
}
