package nodejs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/internal/platform/cache"
	"github.com/sluice-iac/sluice/source"
	"github.com/sluice-iac/sluice/source/internal/direct"
)

//go:embed preload.cjs
var preload []byte

// cacheVariables are the variables of Node.js about its compile cache. A user who sets one has decided.
var cacheVariables = [...]string{"NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"}

// writePreload writes the module that node loads first. The caller removes it. compiled is the folder of the compile cache, "" for none.
func writePreload(compiled string) (path string, err error) {
	text := preload
	if compiled != "" {
		name, err := json.Marshal(compiled)
		if err != nil {
			return "", err
		}
		text = fmt.Appendf(nil, "%s\nkeepCompiled(%s);\n", preload, name)
	}
	return direct.Script("node", "sluice-preload-*.cjs", text)
}

// compileCache returns the folder in which Node.js keeps what it has compiled for a program, "" if it keeps nothing. Without a place for it,
// programs run as usual. A debugger shows less of functions that are not compiled again. A CI job mostly begins with an empty cache, and would
// pay for writing one that nobody reads. Plugins have none: node writes it when it ends by itself, and plugins are ended.
func compileCache(p source.Project) string {
	if interpreterOf(p) == bun || p.Debug || os.Getenv("CI") != "" {
		return ""
	}
	for _, name := range cacheVariables {
		if _, decided := os.LookupEnv(name); decided {
			return ""
		}
	}
	dir, err := cache.Folder("node", p.Directory)
	if err != nil {
		return ""
	}
	return dir
}
