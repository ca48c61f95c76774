package flags

import (
	"github.com/spf13/pflag"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/exit"
	"github.com/sluice-iac/sluice/host"
	"github.com/sluice-iac/sluice/source/policy"
)

// Policies selects the policy packs of operations that run the program.
type Policies struct {
	packs, configs []string
}

// Add registers the flags.
func (p *Policies) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&p.packs, "policy-pack", nil, "check resources against the policy pack in this folder, or that this executable serves; may be repeated")
	f.StringArrayVar(&p.configs, "policy-pack-config", nil, "a JSON file with the configuration of the policy pack; one for each --policy-pack, in the same order")
}

// Given reports whether a policy pack is named.
func (p *Policies) Given() bool { return len(p.packs) > 0 }

// Check refuses contradictory flags.
func (p *Policies) Check() error {
	if len(p.configs) > 0 && len(p.configs) != len(p.packs) {
		return exit.Usagef("--policy-pack-config must be given as often as --policy-pack, in the same order, or not at all: there are %d and %d",
			len(p.configs), len(p.packs))
	}
	return nil
}

// checkProgram refuses policy packs if the program does not run.
func (p *Policies) checkProgram(runs bool) error {
	if len(p.packs) > 0 && !runs {
		return exit.Usagef("--policy-pack requires --run-program: policies check what the program declares")
	}
	return nil
}

// Open reads the policy packs. The operation starts them.
func (p *Policies) Open(o host.PluginOptions) ([]*policy.Pack, error) {
	var packs []*policy.Pack
	for i, directory := range p.packs {
		config := ""
		if len(p.configs) > 0 {
			config = p.configs[i]
		}
		pack, err := host.OpenPolicyPack(directory, config, o)
		if err != nil {
			return nil, exit.AsUsage(err)
		}
		packs = append(packs, pack)
	}
	return packs, nil
}
