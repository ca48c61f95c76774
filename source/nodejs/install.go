package nodejs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/sluice-iac/sluice/source"
)

// manager is a package manager.
type manager struct {
	name  string
	locks []string // its lock files
	args  []string // install the dependencies in package.json
	get   string   // the instruction to install it
}

// managers are the package managers of Node.js. The last is the default.
var managers = [...]manager{
	{"pnpm", []string{"pnpm-lock.yaml"}, []string{"install"}, "install it with `npm install -g pnpm`"},
	{"yarn", []string{"yarn.lock"}, []string{"install"}, "install it with `npm install -g yarn`"},
	{"bun", []string{"bun.lock", "bun.lockb"}, []string{"install"}, "install it with `npm install -g bun`"},
	{"npm", []string{"package-lock.json", "npm-shrinkwrap.json"}, []string{"install", "--loglevel=error"}, "it comes with Node.js"},
}

// preferYarn is the variable that chooses yarn for programs that name no package manager.
const preferYarn = "PULUMI_PREFER_YARN"

// managerOf returns the package manager of a program. The first of these decides: the option packagemanager; a package.yaml, which only
// pnpm reads; the environment, if it prefers yarn and yarn is there; the nearest lock file in the directory from which the package is
// installed or above it. The default is npm.
func managerOf(p source.Project) (manager, error) {
	name := p.Option("packagemanager")
	if p.Runtime == bun {
		name = bun
	}
	if name != "" && name != "auto" {
		return managerNamed(name)
	}
	start := p.Directory
	if of, found := manifestAbove(start); found {
		if of.unread {
			return managerNamed("pnpm")
		}
		if root := installedFrom(of.directory); root != of.directory {
			start = root
		}
	}
	if preferred, _ := strconv.ParseBool(os.Getenv(preferYarn)); preferred {
		if _, err := exec.LookPath("yarn"); err == nil {
			return managerNamed("yarn")
		}
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		for _, m := range managers {
			for _, lock := range m.locks {
				if _, err := os.Stat(filepath.Join(dir, lock)); err == nil {
					return m, nil
				}
			}
		}
		if dir == filepath.Dir(dir) {
			return managers[len(managers)-1], nil
		}
	}
}

func managerNamed(name string) (manager, error) {
	for _, m := range managers {
		if m.name == name {
			return m, nil
		}
	}
	return manager{}, fmt.Errorf("the runtime option `packagemanager` is %q; it can be auto, npm, pnpm, yarn or bun", name)
}

// adds returns the command that installs a package and adds it to package.json.
func (m manager) adds(name string) string {
	if m.name == "npm" {
		return "npm install " + name
	}
	return m.name + " add " + name
}
