package property

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// HashAssets returns m in which every asset and archive, at any depth, has its hash ([protocol.md 2.6]). Existing hashes
// are kept and cost nothing. Relative paths are relative to dir, the program's working directory. It reads files and
// the network; an error is a [*ValueError] that names the first property, in order, whose content cannot be read.
//
// [protocol.md 2.6]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#26-assets
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

func formatOf(name string) archiveFormat {
	switch {
	case strings.HasSuffix(name, ".tar"):
		return tarArchive
	case strings.HasSuffix(name, ".tgz"), strings.HasSuffix(name, ".tar.gz"):
		return gzipArchive
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".jar"):
		return zipArchive
	}
	return notArchive
}

// writeCanonical writes the bytes that the hash of an archive is computed from: the archive file if it is one, else a
// tar stream of its members (protocol.md 2.6).
func (ar AssetReader) writeCanonical(ctx context.Context, a Archive, w io.Writer) error {
	file, format, err := ar.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format != notArchive {
		defer file.Close()
		_, err := io.Copy(w, file)
		return err
	}
	t := canonicalTar{reader: ar, w: tar.NewWriter(w), seen: map[string]struct{}{}}
	if err := ar.eachMember(ctx, a, t.add); err != nil {
		return err
	}
	return t.w.Close()
}

// openArchiveFile returns format notArchive for directories and member maps.
func (ar AssetReader) openArchiveFile(ctx context.Context, a Archive) (blob, archiveFormat, error) {
	switch a.Kind {
	case KindPath:
		p := ar.resolve(a.Path)
		format := formatOf(p)
		if format == notArchive {
			return blob{}, notArchive, nil
		}
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			return blob{}, notArchive, fmt.Errorf("'%v' has the name of an archive file and is a directory; rename it", p)
		}
		b, err := openFile(ctx, p)
		return b, format, err
	case KindURI:
		u, err := url.Parse(a.URI)
		if err != nil {
			return blob{}, notArchive, err
		}
		format := formatOf(u.Path)
		if format == notArchive {
			return blob{}, notArchive, fmt.Errorf("file at URL '%v' is not a recognized archive format", u.Redacted())
		}
		b, err := ar.openURL(ctx, u)
		return b, format, err
	}
	return blob{}, notArchive, nil
}

// eachMember calls add for every file of an archive, in canonical order. add must read the blob before it returns;
// it need not close it.
func (ar AssetReader) eachMember(ctx context.Context, a Archive, add func(name string, b blob) error) error {
	switch a.Kind {
	case KindMembers:
		return ar.eachInMap(ctx, a.Members, add)
	case KindElided:
		return errNoContent
	}
	file, format, err := ar.openArchiveFile(ctx, a)
	if err != nil {
		return err
	}
	if format == notArchive {
		return eachInDirectory(ctx, ar.resolve(a.Path), add)
	}
	u := newUnpacking(ctx, ar.limit(), add)
	if format == zipArchive {
		if file, err = ar.onDisk(file); err != nil {
			return err
		}
		defer file.Close()
		return u.zip(file)
	}
	defer file.Close()
	if format == gzipArchive {
		z, err := gzip.NewReader(file)
		if err != nil {
			return err
		}
		return u.tar(z)
	}
	return u.tar(file)
}

func (ar AssetReader) eachInMap(ctx context.Context, members Map, add func(string, blob) error) error {
	for name, v := range members.All() {
		if nested, ok := v.v.(Archive); ok {
			err := ar.eachMember(ctx, nested, func(inner string, b blob) error { return add(path.Join(name, inner), b) })
			if err != nil {
				return fmt.Errorf("archive member '%v': %w", name, err)
			}
			continue
		}
		a, ok := v.v.(Asset)
		if !ok {
			return fmt.Errorf("archive member '%v' is not an asset or archive", name)
		}
		b, err := ar.open(ctx, a)
		if err != nil {
			return fmt.Errorf("archive member '%v': %w", name, err)
		}
		err = add(name, b)
		b.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// bookkeeping is the directory in which tools keep their own files; it is no part of an archive.
const bookkeeping = ".pulumi"

// eachInDirectory follows symbolic links to files but not to directories, also where root itself is one.
func eachInDirectory(ctx context.Context, root string, add func(string, blob) error) error {
	info, err := os.Stat(root)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("'%v' is neither a recognized archive type nor a directory", root)
	}
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.Name() == bookkeeping && entry.IsDir():
			return fs.SkipDir
		case entry.Name() == bookkeeping || entry.IsDir():
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Stat(file)
			if err != nil {
				return err
			}
			if target.IsDir() {
				return nil
			}
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		b, err := openFile(ctx, file)
		if err != nil {
			return err
		}
		defer b.Close()
		return add(filepath.ToSlash(name), b)
	})
}

// onDisk copies a content to a temporary file unless it is in a file already: its size is needed before it is read, or it
// is read from the end. The caller closes the result and not b.
func (ar AssetReader) onDisk(b blob) (blob, error) {
	if b.file != nil {
		return b, nil
	}
	defer b.Close()
	f, err := os.CreateTemp("", "sluice-asset-*")
	if err != nil {
		return blob{}, err
	}
	limit := ar.limit()
	n, err := io.Copy(f, io.LimitReader(b, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it is larger than %s", sizeText(limit))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	t := temporary{f}
	if err != nil {
		return blob{}, errors.Join(err, t.Close())
	}
	return blob{t, n, f}, nil
}

func (ar AssetReader) open(ctx context.Context, a Asset) (blob, error) {
	switch a.Kind {
	case KindText:
		return blob{io.NopCloser(strings.NewReader(a.Text)), int64(len(a.Text)), nil}, nil
	case KindPath:
		return openFile(ctx, ar.resolve(a.Path))
	case KindURI:
		u, err := url.Parse(a.URI)
		if err != nil {
			return blob{}, err
		}
		return ar.openURL(ctx, u)
	default:
		return blob{}, errNoContent
	}
}

var errNoContent = errors.New("only its hash is known, not its content")

func (ar AssetReader) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(ar.Dir, path)
}

// openFile opens a file, or the target of a link.
func openFile(ctx context.Context, path string) (blob, error) {
	info, err := os.Stat(path)
	if err != nil {
		return blob{}, err
	}
	if info.IsDir() {
		return blob{}, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a directory; try using an archive")}
	}
	f, info, err := openRegular(path, info)
	if err != nil {
		return blob{}, err
	}
	return blob{attentive{ctx, f}, info.Size(), f}, nil
}

func (ar AssetReader) openURL(ctx context.Context, u *url.URL) (blob, error) {
	switch u.Scheme {
	case "http", "https":
		return ar.download(ctx, u)
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return blob{}, fmt.Errorf("file:// host '%v' not supported (only localhost)", u.Host)
		}
		if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return blob{}, fmt.Errorf("file URI '%v' must have nothing but a path", u.Redacted())
		}
		return openFile(ctx, u.Path)
	default:
		return blob{}, fmt.Errorf("Unrecognized or unsupported URI scheme: %v", u.Scheme) //nolint:staticcheck // known text
	}
}

// Downloads are tried a few times, because a program cannot do so itself.
const (
	downloadAttempts = 3
	downloadPause    = 500 * time.Millisecond
)

func (ar AssetReader) download(ctx context.Context, u *url.URL) (blob, error) {
	var last error
	for attempt := range downloadAttempts {
		if attempt > 0 {
			if err := sleep(ctx, downloadPause<<(attempt-1)); err != nil {
				return blob{}, errors.Join(err, last)
			}
		}
		b, again, err := ar.downloadOnce(ctx, u)
		if err == nil || !again {
			return b, err
		}
		last = err
	}
	return blob{}, last
}

func (ar AssetReader) downloadOnce(ctx context.Context, u *url.URL) (b blob, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return blob{}, false, err
	}
	client := ar.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return blob{}, ctx.Err() == nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		again = resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
		return blob{}, again, fmt.Errorf("download of %s: the server answered %s", u.Redacted(), resp.Status)
	}
	return blob{resp.Body, resp.ContentLength, nil}, false, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func newUnpacking(ctx context.Context, limit int64, add func(string, blob) error) *unpacking {
	return &unpacking{ctx: ctx, files: counter{limit, limit}, stream: counter{limit, limit}, add: add}
}

func isBelow(name string) bool {
	// Some systems have other separators, and names end at a NUL.
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return name != "." && name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name) && !strings.ContainsRune(name, 0)
}
