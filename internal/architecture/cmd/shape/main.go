// Shape prints what package shape measures of the packages that match the arguments (./... if there are none) beside its
// limits, the worst first, and the knots of files that are too large:
//
//	go run ./internal/architecture/cmd/shape
//	go run ./internal/architecture/cmd/shape -all ./stages
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/sluice-iac/sluice/internal/architecture/shape"
)

func main() {
	all := flag.Bool("all", false, "print also what is far below its limit, and every need that makes a knot too large")
	flag.Parse()
	if err := run(*all, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(all bool, patterns []string) error {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	packages, err := shape.Load(".", patterns...)
	if err != nil {
		return err
	}
	return shape.Report(os.Stdout, packages, all)
}
