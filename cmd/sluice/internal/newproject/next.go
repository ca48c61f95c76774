package newproject

import (
	"fmt"
	"path/filepath"
	"strings"
)

// sayWhatIsNext prints how to continue.
func sayWhatIsNext(n *creation, before string) error {
	var b strings.Builder
	if n.options.GenerateOnly {
		fmt.Fprintf(&b, "Created project '%s'\n", n.project.Name)
	}
	command := n.terminal.Command()
	b.WriteString("\nThe project is ready. To make what it declares:\n\n")
	if n.directory != before {
		to, err := filepath.Rel(before, n.directory)
		if err != nil {
			to = n.directory
		}
		fmt.Fprintf(&b, "    cd %s\n", to)
	}
	if n.options.GenerateOnly {
		fmt.Fprintf(&b, "    %s install\n", command)
		fmt.Fprintf(&b, "    %s stack init %s\n", command, n.stack)
	}
	fmt.Fprintf(&b, "    %s up\n", command)
	_, err := fmt.Fprint(n.terminal.Out, b.String())
	return err
}
