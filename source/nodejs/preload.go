package nodejs

import (
	_ "embed"

	"github.com/sluice-iac/sluice/source/internal/direct"
)

//go:embed preload.cjs
var preload []byte

// writePreload writes the module that node loads first. The caller removes it.
func writePreload() (path string, err error) {
	return direct.Script("node", "sluice-preload-*.cjs", preload)
}
