package tls

import (
	"time"

	"github.com/sluice-iac/sluice/providers/native"
)

// At is [Package] with a clock of its own.
func At(now func() time.Time) native.Package { return at(now) }
