package store_test

import (
	"testing"

	"github.com/sluice-iac/sluice/state/store"
	"github.com/sluice-iac/sluice/state/store/storetest"
)

func TestDirectoryIsAStore(t *testing.T) {
	storetest.Run(t, store.NewDir(t.TempDir()))
}
