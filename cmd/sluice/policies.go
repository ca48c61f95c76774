package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sluice-iac/sluice"
	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
)

// policyFlags are the flags of the operations that run the program, and so ask policy packs.
type policyFlags struct {
	packs, configs   []string
	showRemediations bool
}

func (f *policyFlags) add(cmd *cobra.Command) {
	p := cmd.Flags()
	p.StringArrayVar(&f.packs, "policy-pack", nil, "have the policy pack in this folder judge the program's resources; may be repeated")
	p.StringArrayVar(&f.configs, "policy-pack-config", nil, "a JSON file with the configuration of the policy pack; one for each --policy-pack, in the same order")
	p.BoolVar(&f.showRemediations, "show-policy-remediations", false, "show each time that a policy has rewritten the inputs of a resource")
}

// check refuses flags that do not fit together.
func (f *policyFlags) check() error {
	if len(f.configs) > 0 && len(f.configs) != len(f.packs) {
		return exit.Usagef("--policy-pack-config must be given as often as --policy-pack, in the same order, or not at all: there are %d and %d",
			len(f.configs), len(f.packs))
	}
	return nil
}

// open reads the policy packs. They are started with the operation.
func (f *policyFlags) open(o sluice.PluginOptions) ([]*sluice.PolicyPack, error) {
	var packs []*sluice.PolicyPack
	for i, directory := range f.packs {
		config := ""
		if len(f.configs) > 0 {
			config = f.configs[i]
		}
		p, err := sluice.OpenPolicyPack(directory, config, o)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		packs = append(packs, p)
	}
	return packs, nil
}

// analyzeLimit reads how many policy packs may judge at once; 0 is all.
func (c *cli) analyzeLimit() (int, error) {
	const name = "PULUMI_PARALLEL_ANALYZE"
	text := c.Env(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, exit.Usagef("the environment variable %s is %q: write how many policy packs may judge at once, or 0 for all", name, text)
	}
	return n, nil
}
