package policy

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/sluice-iac/sluice/providers/plugin"
	"github.com/sluice-iac/sluice/providers/plugin/install"
)

// Remote is a pack on another machine, as a compressed tar archive with the pack in the folder "package".
type Remote struct {
	Name string
	ID   string // identifies this version of the pack
	Open func(ctx context.Context) (io.ReadCloser, error)
}

func (r Remote) request() install.Request {
	return install.Request{
		Kind: plugin.Analyzer, Name: strings.ReplaceAll(r.Name, "/", "_"),
		Version: fmt.Sprintf("1.0.0-id%x", sha256.Sum256([]byte(r.ID))), // versions of packs may have any form
	}
}

// Installed returns the folder of a pack below home, and reports whether it is there.
func (r Remote) Installed(home string) (string, bool) {
	want := r.request()
	for _, there := range (plugin.Finder{Home: home, LookupEnv: noVariables}).List() {
		if there.Kind == want.Kind && there.Name == want.Name && there.Version == want.Version {
			return there.Location.Directory, true
		}
	}
	return "", false
}

func noVariables(string) (string, bool) { return "", false }

// maxPack limits the size of an unpacked archive.
const maxPack = 4 << 30

// Install fetches a pack into the home directory of the installer, installs its dependencies, and returns its folder. Many processes may do
// so at once.
func (r Remote) Install(ctx context.Context, i *install.Installer) (string, error) {
	archive, err := os.CreateTemp("", "sluice-policies-")
	if err != nil {
		return "", err
	}
	defer os.Remove(archive.Name())
	if err := errors.Join(r.fetch(ctx, archive), archive.Close()); err != nil {
		return "", err
	}
	request := r.request()
	request.File = archive.Name()
	done, err := i.Install(ctx, request)
	var failed *install.Error
	if errors.As(err, &failed) && len(failed.Tries) == 1 {
		err = failed.Tries[0].Err // the file is ours
	}
	return done.Directory, err
}

// fetch writes the archive to a file, without the top folder.
func (r Remote) fetch(ctx context.Context, to io.Writer) error {
	from, err := r.Open(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	unzipped, err := gzip.NewReader(from)
	if err != nil {
		return fmt.Errorf("it is not a .tar.gz archive: %w", err)
	}
	bounded := &io.LimitedReader{R: unzipped, N: maxPack}
	zipped := gzip.NewWriter(to)
	out := tar.NewWriter(zipped)
	for in := tar.NewReader(bounded); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = withoutFolder(h, in, out)
		}
		if bounded.N == 0 {
			err = errors.New("it unpacks to more than a policy pack may have")
		}
		if err != nil {
			return fmt.Errorf("its archive: %w", err)
		}
	}
	if _, err := io.Copy(io.Discard, bounded); err != nil { // to the checksum at its end
		return fmt.Errorf("its archive: %w", err)
	}
	return errors.Join(out.Close(), zipped.Close())
}

// withoutFolder copies an entry of the folder "package". Anything else is not part of the pack.
func withoutFolder(h *tar.Header, content io.Reader, out *tar.Writer) error {
	const folder = "package/"
	name, inside := strings.CutPrefix(strings.TrimPrefix(h.Name, "./"), folder)
	if !inside || name == "" {
		return nil
	}
	h.Name = name
	if h.Typeflag == tar.TypeLink {
		h.Linkname = strings.TrimPrefix(strings.TrimPrefix(h.Linkname, "./"), folder)
	}
	h.Format = tar.FormatUnknown // the new archive has its own
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(out, content)
	return err
}
