// Package cache gives programs places for what they can make again, such as compiled code.
package cache

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// unused is the time after which a folder of the cache is removed if it was not used.
const unused = 30 * 24 * time.Hour

// Folder returns a folder in the cache of the user for what belongs to a text, such as the directory of a program: always the same one. It
// makes the folder, which only the user can read, and removes folders of the same kind that have not been used for long.
func Folder(kind, text string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	all := filepath.Join(user, "sluice", kind)
	dir := filepath.Join(all, fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:20])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	forget(all, dir)
	return dir, nil
}

// forget removes folders that have not been used for long, except keep. It ignores those that it cannot remove.
func forget(all, keep string) {
	now := time.Now()
	_ = os.Chtimes(keep, now, now)
	entries, err := os.ReadDir(all)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.IsDir() && now.Sub(info.ModTime()) > unused {
			_ = os.RemoveAll(filepath.Join(all, e.Name()))
		}
	}
}
