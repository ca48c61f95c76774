package property

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
)

// HashAssets returns m in which every asset and archive, at any depth, has its hash (protocol.md 2.6). Existing hashes
// are kept and cost nothing. Relative paths are relative to dir, the program's working directory. It reads files and
// the network; an error is a [*ValueError] that names the first property, in order, whose content cannot be read.
func HashAssets(ctx context.Context, m Map, dir string) (Map, error) {
	return AssetReader{Dir: dir}.Hash(ctx, m)
}

// AssetReader reads the contents of assets and archives. It is safe for concurrent use.
type AssetReader struct {
	Dir    string       // the base of relative paths; "" is the working directory of this process
	Client *http.Client // for http and https; nil is [http.DefaultClient]
	// MaxUnpacked is the number of bytes to which one archive file may unpack when its files are read, and the maximum
	// size of a download that has to be stored while it is read; 0 means 16 GiB. Contents that are only streamed have no
	// limit.
	MaxUnpacked int64
}

const maxUnpacked = 16 << 30

func (ar AssetReader) limit() int64 {
	if ar.MaxUnpacked > 0 {
		return ar.MaxUnpacked
	}
	return maxUnpacked
}

// Hash is [HashAssets].
func (ar AssetReader) Hash(ctx context.Context, m Map) (Map, error) {
	if !anyInMap(m, lacksHash) {
		return m, nil
	}
	out, err := ar.hashMap(ctx, m)
	if err != nil {
		return Map{}, outermost(err, "")
	}
	return out, nil
}

func lacksHash(v Value) bool {
	switch x := v.v.(type) {
	case Asset:
		return x.Hash == ""
	case Archive:
		return x.Hash == ""
	}
	return false
}

func (ar AssetReader) hashMap(ctx context.Context, m Map) (Map, error) {
	list := slices.Clone(m.members())
	for i := range list {
		h, err := ar.hashValue(ctx, list[i].value)
		if err != nil {
			return Map{}, within(err, Key(list[i].name))
		}
		list[i].value = h
	}
	return list.object(), nil
}

func (ar AssetReader) hashValue(ctx context.Context, v Value) (Value, error) {
	if x, ok := v.v.(Archive); ok && x.Hash == "" {
		return ar.hashArchive(ctx, x)
	}
	if x, ok := v.v.(Asset); ok && x.Hash == "" {
		return ar.hashAsset(ctx, x)
	}
	if !anyValue(v, lacksHash) {
		return v, nil
	}
	switch x := v.v.(type) {
	case Array:
		a := make([]Value, len(x.a))
		for i, e := range x.a {
			h, err := ar.hashValue(ctx, e)
			if err != nil {
				return Null, within(err, Index(i))
			}
			a[i] = h
		}
		return Of(Array{a}), nil
	case Map:
		m, err := ar.hashMap(ctx, x)
		return Of(m), err
	case *secret:
		e, err := ar.hashValue(ctx, x.element)
		return Secret(e), err
	case *Output:
		o := *x
		var err error
		o.Element, err = ar.hashValue(ctx, x.Element)
		return OutputOf(o), err
	}
	return v, nil
}

func (ar AssetReader) hashAsset(ctx context.Context, a Asset) (Value, error) {
	if a.Kind == KindText {
		a.Hash = hashText(a.Text)
		return Of(a), nil
	}
	b, err := ar.open(ctx, a)
	if err != nil {
		return Null, &ValueError{before: "hash of the asset ", Err: err}
	}
	defer b.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, b); err != nil {
		return Null, &ValueError{before: "hash of the asset ", Err: err}
	}
	a.Hash = hex.EncodeToString(sum.Sum(nil))
	return Of(a), nil
}

func (ar AssetReader) hashArchive(ctx context.Context, a Archive) (Value, error) {
	members, err := ar.hashMap(ctx, a.Members)
	if err != nil {
		return Null, err
	}
	if a.Members.Len() > 0 {
		a.Members = members
	}
	sum := sha256.New()
	if err := ar.writeCanonical(ctx, a, sum); err != nil {
		return Null, &ValueError{before: "hash of the archive ", Err: err}
	}
	a.Hash = hex.EncodeToString(sum.Sum(nil))
	return Of(a), nil
}

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
