package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sluice-iac/sluice/providers/native"
)

// write makes the archive and returns its outputs.
func (d disk) write(in native.Values) (native.Outputs, error) {
	members, err := d.members(in)
	if err != nil {
		return nil, err
	}
	path := d.options.Path(in.Text("outputPath"))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".archive-*")
	if err != nil {
		return nil, err
	}
	outputs, err := fill(f, in, members)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	return outputs, nil
}

// fill writes the archive and computes its hashes.
func fill(f *os.File, in native.Values, members []member) (native.Outputs, error) {
	m5, s1, s256, s512 := md5.New(), sha1.New(), sha256.New(), sha512.New()
	to := io.MultiWriter(f, m5, s1, s256, s512)
	m, err := mode(in)
	if err != nil {
		return nil, err
	}
	if in.Text("type") == "zip" {
		err = writeZip(to, members, fs.FileMode(m))
	} else {
		err = writeTar(to, members, int64(m))
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	encode := base64.StdEncoding.EncodeToString
	return native.Outputs{
		"outputSize": native.Int(info.Size()), "outputMd5": native.Text(hex.EncodeToString(m5.Sum(nil))),
		"outputSha":    native.Text(hex.EncodeToString(s1.Sum(nil))),
		"outputSha256": native.Text(hex.EncodeToString(s256.Sum(nil))), "outputBase64sha256": native.Text(encode(s256.Sum(nil))),
		"outputSha512": native.Text(hex.EncodeToString(s512.Sum(nil))), "outputBase64sha512": native.Text(encode(s512.Sum(nil))),
	}, nil
}

func writeZip(to io.Writer, members []member, mode fs.FileMode) error {
	z := zip.NewWriter(to)
	for _, m := range members {
		if err := addToZip(z, m, mode); err != nil {
			return err
		}
	}
	return z.Close()
}

func addToZip(z *zip.Writer, m member, mode fs.FileMode) error {
	if m.info == nil {
		w, err := z.Create(m.name)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, m.content)
		return err
	}
	h, err := zip.FileInfoHeader(m.info)
	if err != nil {
		return err
	}
	h.Name, h.Method = m.name, zip.Deflate
	//lint:ignore SA1019 the public package has these bytes for no time
	h.SetModTime(time.Time{})
	if mode != 0 {
		h.SetMode(mode)
	}
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	return m.copyTo(w)
}

func writeTar(to io.Writer, members []member, mode int64) error {
	z := gzip.NewWriter(to)
	t := tar.NewWriter(z)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Size: int64(len(m.content))}
		if m.info != nil {
			h.Size, h.Mode = m.info.Size(), int64(m.info.Mode())
		}
		if mode != 0 {
			h.Mode = mode
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if err := m.copyTo(t); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (m member) copyTo(w io.Writer) error {
	if m.info == nil {
		_, err := io.Copy(w, strings.NewReader(m.content))
		return err
	}
	f, err := os.Open(m.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
