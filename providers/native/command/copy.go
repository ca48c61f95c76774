package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pkg/sftp"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func remotePath(doc string) native.Field {
	f := optional("remotePath", native.KindString, doc)
	f.Required = true
	return f
}

func (r *remote) copyToRemote() native.Resource {
	source := native.Field{
		Name: "source", Type: native.Of(native.KindAsset), Required: true,
		Doc: "What to copy: a file or a folder. Archives are not unpacked, and a folder whose path ends with / is its files.",
	}
	return native.Resource{
		Type: "command:remote:CopyToRemote", Doc: "Files that are copied to another machine over SFTP. Deleting it leaves them there.",
		Inputs: []native.Field{
			connection(),
			remotePath("Where to copy to. Directories above it are made; into one that is there the file or folder is put."),
			source, triggers(),
		},
		Create: func(ctx context.Context, c native.Call) (native.Made, error) {
			id, err := newID("")
			if err == nil {
				err = r.copy(ctx, c)
			}
			return native.Made{ID: id}, err
		},
		Update: func(ctx context.Context, c native.Call) (native.Outputs, error) {
			if sameCopy(c) {
				return nil, nil
			}
			return nil, r.copy(ctx, c)
		},
	}
}

// copyFile returns the old form of copyToRemote, in which every change of an input copies again.
func (r *remote) copyFile() native.Resource {
	local := optional("localPath", native.KindString, "The file to copy.")
	local.Required = true
	inputs := []native.Field{connection(), local, remotePath("Where to copy to."), triggers()}
	for i := range inputs {
		inputs[i].Replace = true
	}
	return native.Resource{
		Type: "command:remote:CopyFile", Doc: "The old form of CopyToRemote.", Inputs: inputs,
		Create: func(ctx context.Context, c native.Call) (native.Made, error) {
			id, err := newID("")
			if err != nil {
				return native.Made{}, err
			}
			return native.Made{ID: id}, r.during(ctx, c, func(to *target) error {
				content, err := open(ctx, to.here(c.Inputs.Text("localPath")))
				if err != nil {
					return err
				}
				defer content.Close()
				return to.write(c.Inputs.Text("remotePath"), content)
			})
		},
	}
}

// sameCopy reports whether the update would change nothing: the same content is at the same place.
func sameCopy(c native.Call) bool {
	was, now := c.State.Object("connection"), c.Inputs.Object("connection")
	hash := func(v property.Value) string { return v.AsAsset().Hash + v.AsArchive().Hash }
	wasSource, nowSource := c.State.Value("source"), c.Inputs.Value("source")
	return hash(nowSource) != "" && hash(wasSource) == hash(nowSource) && wasSource.IsAsset() == nowSource.IsAsset() &&
		c.State.Text("remotePath") == c.Inputs.Text("remotePath") &&
		was.Text("host") == now.Text("host") && was.Int("port") == now.Int("port")
}

// during calls f with the files of the machine. They must not be used after ctx ends.
func (r *remote) during(ctx context.Context, c native.Call, f func(*target) error) error {
	conn, err := r.dial(ctx, c)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer conn.endWith(ctx, nil)()
	files, err := sftp.NewClient(conn.Client, sftp.UseConcurrentWrites(true))
	if err != nil {
		return err
	}
	defer files.Close()
	if err := f(&target{files, r.options.Directory}); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
	return nil
}

func (r *remote) copy(ctx context.Context, c native.Call) error {
	dest := c.Inputs.Text("remotePath")
	reader := property.AssetReader{Dir: r.options.Directory}
	return r.during(ctx, c, func(to *target) error {
		source := c.Inputs.Value("source")
		if a := source.AsAsset(); source.IsAsset() {
			if a.Kind == property.KindPath {
				return to.put(ctx, a.Path, dest)
			}
			content, err := reader.Open(ctx, a)
			if err != nil {
				return err
			}
			defer content.Close()
			return to.putContent(baseOf(a.URI), content, dest)
		}
		switch a := source.AsArchive(); a.Kind {
		case property.KindPath:
			return to.put(ctx, a.Path, dest)
		case property.KindURI:
			content, err := reader.OpenArchive(ctx, a)
			if err != nil {
				return err
			}
			defer content.Close()
			return to.putContent(baseOf(a.URI), content, dest)
		default:
			if err := to.directory(dest); err != nil {
				return err
			}
			return reader.Members(ctx, a, func(name string, content io.Reader) error {
				return to.write(path.Join(dest, name), content)
			})
		}
	})
}

// baseOf returns the name of the file at the end of a URI; "" for none.
func baseOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if base := path.Base(u.Path); base != "/" && base != "." {
		return base
	}
	return ""
}

// target is the file system of another machine.
type target struct {
	*sftp.Client
	base string // the base of relative paths on this machine
}

func (t *target) here(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	// A slash at the end is significant, and Join removes it.
	joined := filepath.Join(t.base, name)
	if strings.HasSuffix(name, "/") {
		joined += "/"
	}
	return joined
}

// open opens a file of this machine, and refuses anything but a regular file, such as a named pipe.
func open(ctx context.Context, name string) (io.ReadCloser, error) {
	return property.AssetReader{}.Open(ctx, property.Asset{Kind: property.KindPath, Path: name})
}

// put copies a file or a folder of this machine.
func (t *target) put(ctx context.Context, name, dest string) error {
	name = t.here(name)
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		content, err := open(ctx, name)
		if err != nil {
			return err
		}
		defer content.Close()
		return t.putContent(filepath.Base(name), content, dest)
	}
	if !strings.HasSuffix(name, "/") {
		dest = path.Join(dest, filepath.Base(name))
	}
	return fs.WalkDir(os.DirFS(name), ".", func(below string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := path.Join(dest, below)
		if e.IsDir() {
			return t.directory(to)
		}
		content, err := open(ctx, filepath.Join(name, filepath.FromSlash(below)))
		if err != nil {
			return err
		}
		defer content.Close()
		return t.write(to, content)
	})
}

// putContent writes a file to dest, or into it if it is a directory.
func (t *target) putContent(name string, content io.Reader, dest string) error {
	info, err := t.Stat(dest)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", dest, err)
	case err == nil && info.IsDir() && name == "":
		return fmt.Errorf("%s is a directory, and the source has no name that the file could have in it; "+
			"write the path of a file", dest)
	case err == nil && info.IsDir():
		dest = path.Join(dest, name)
	}
	return t.write(dest, content)
}

// directory makes a directory and those above it, unless it is there.
func (t *target) directory(dest string) error {
	if info, err := t.Stat(dest); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is there and not a directory", dest)
	}
	if err := t.MkdirAll(dest); err != nil {
		return fmt.Errorf("making the directory %s: %w", dest, err)
	}
	return nil
}

// write makes or overwrites a file.
func (t *target) write(dest string, content io.Reader) error {
	if err := t.directory(path.Dir(dest)); err != nil {
		return err
	}
	f, err := t.Create(dest)
	if err != nil {
		return fmt.Errorf("making the file %s: %w", dest, err)
	}
	_, err = f.ReadFrom(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the file %s: %w", dest, err)
	}
	return nil
}
