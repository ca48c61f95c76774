//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

func inode(i fs.FileInfo) uint64 {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
