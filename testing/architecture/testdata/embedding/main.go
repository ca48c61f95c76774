// The smallest program with the engine: it runs no operation, and links what Preview links.
package main

import (
	"context"
	"fmt"

	"github.com/sluice-iac/sluice"
)

func main() {
	_, err := sluice.Preview(context.Background(), sluice.Options{})
	fmt.Println(err != nil)
}
