package pending

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-iac/sluice/cmd/sluice/internal/terminal"
	"github.com/sluice-iac/sluice/stages"
)

// Ask asks the user how an interrupted create ended.
func Ask(ctx context.Context, t *terminal.Terminal, name string) (stages.CreateResolution, error) {
	for {
		answer, err := t.Ask(ctx, fmt.Sprintf("The create of %s was interrupted. It is not known whether the object exists.\n"+
			"  clear   it does not exist: forget the create\n"+
			"  import  it exists: read it by its ID and record it\n"+
			"  skip    leave it as it is\n"+
			"What is to be done? [clear/import/skip] (skip): ", name))
		if err != nil {
			return stages.CreateResolution{}, err
		}
		switch strings.ToLower(answer) {
		case "clear":
			return stages.CreateResolution{Clear: true}, nil
		case "", "skip":
			return stages.CreateResolution{}, nil
		case "import":
			id, err := t.Ask(ctx, "ID: ")
			if err != nil {
				return stages.CreateResolution{}, err
			}
			if id != "" {
				return stages.CreateResolution{ID: id}, nil
			}
			fmt.Fprintln(t.Out, "The import needs the ID of the object.")
			continue
		}
		fmt.Fprintln(t.Out, "Please answer clear, import or skip.")
	}
}
