package main

import (
	"archive/zip"
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// packZip implements "pack DAY FILE.zip FILES...": it packs files, in this order and with times of this day of January.
func packZip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: pack DAY FILE.zip FILES...")
	}
	day, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range args[2:] {
		out, err := w.CreateHeader(&zip.FileHeader{Name: name, Modified: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)})
		ts.Check(err)
		_, err = out.Write([]byte(ts.ReadFile(name)))
		ts.Check(err)
	}
	ts.Check(w.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}
