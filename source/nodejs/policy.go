package nodejs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/source"
)

// PolicyPack returns how to run a policy pack in node: a process that writes the port on which it serves the Analyzer service
// (protocol.md 7.2). p is the pack as a program; engine is the address of the Engine service. clean is to be called when
// the process has ended, or has not been started.
func PolicyPack(p source.Project, engine string) (c plugin.Command, clean func(), err error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return c, nil, errors.New("node was not found on your $PATH; install Node.js to run policy packs written for it")
	}
	module, err := sdkModule(p.Directory, "run-policy-pack")
	if err != nil {
		return c, nil, fmt.Errorf("it looks like the policy pack's dependencies are not installed: %w", err)
	}
	if err := checkEntry(p); err != nil {
		return c, nil, err
	}
	first, err := writePreload()
	if err != nil {
		return c, nil, err
	}
	args := append([]string{"--require", first}, nodeArguments(p.Options["nodeargs"])...)
	program := p.Directory
	if p.Entry != "." {
		program = p.Entry
	}
	c = plugin.Command{Executable: node, Args: append(args, module, engine, program), Directory: p.Directory}
	return c, func() { _ = os.Remove(first) }, nil
}
