package results

import (
	"context"
	"os/exec"
	"strings"

	"github.com/sluice-iac/sluice/internal/platform/build"
)

// Commit returns the measured commit: the one in the build information or, as `go run` may leave that out, the one checked out in the
// working directory. It is "unknown" if there is neither.
func Commit(ctx context.Context) string {
	if c := build.Revision(); c != "" {
		return c
	}
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	commit := strings.TrimSpace(string(head))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err == nil && len(changed) > 0 {
		commit += " with changes"
	}
	return commit
}
