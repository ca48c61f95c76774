package property

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
)

// Open returns the content of an asset; the caller closes it.
func (ar AssetReader) Open(ctx context.Context, a Asset) (io.ReadCloser, error) {
	b, err := ar.open(ctx, a)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// OpenArchive returns the bytes of an archive that is a file, here or at a URI; the caller closes it. For other archives
// use [AssetReader.Members].
func (ar AssetReader) OpenArchive(ctx context.Context, a Archive) (io.ReadCloser, error) {
	b, format, err := ar.openArchiveFile(ctx, a)
	switch {
	case err != nil:
		return nil, err
	case format == notArchive:
		return nil, fmt.Errorf("the archive is not one file")
	}
	return b, nil
}

// Members calls f for every file of an archive with its path in the archive, which has slashes, in an order that depends
// only on the archive. f must read the content before it returns, and need not close it. Every path is below the archive:
// an absolute path, or one that leads out of the archive, is an error. Only malicious archives have such paths.
func (ar AssetReader) Members(ctx context.Context, a Archive, f func(name string, content io.Reader) error) error {
	return ar.eachMember(ctx, a, func(name string, b blob) error {
		if !isBelow(name) {
			return fmt.Errorf("the archive has a file %q, which is not a path below it; it was not used", name)
		}
		return f(name, b)
	})
}

func isBelow(name string) bool {
	// Some systems have other separators, and names end at a NUL.
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return name != "." && name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name) && !strings.ContainsRune(name, 0)
}
