package property

import (
	"crypto/sha256"
	"encoding/hex"
)

const (
	emptyAssetHash   = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	emptyArchiveHash = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
)

// TextAsset makes an asset of its text, hash included.
func TextAsset(text string) Value {
	return Of(Asset{Kind: KindText, Text: text, Hash: hashText(text)})
}

// PathAsset makes an asset of a file. Its hash is not computed; see [HashAssets].
func PathAsset(path string) Value { return Of(Asset{Kind: KindPath, Path: path}) }

// URIAsset makes an asset of a URI. Its hash is not computed; see [HashAssets].
func URIAsset(uri string) Value { return Of(Asset{Kind: KindURI, URI: uri}) }

// MemberArchive makes an archive of named assets and archives. Its hash is not computed; see [HashAssets].
func MemberArchive(members Map) Value { return Of(Archive{Kind: KindMembers, Members: members}) }

// PathArchive makes an archive of a directory or an archive file. Its hash is not computed; see [HashAssets].
func PathArchive(path string) Value { return Of(Archive{Kind: KindPath, Path: path}) }

// URIArchive makes an archive of a URI. Its hash is not computed; see [HashAssets].
func URIArchive(uri string) Value { return Of(Archive{Kind: KindURI, URI: uri}) }

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// newAsset chooses the source of an asset, as every decoder must (protocol.md 2.6, state.md 2.6): without any content
// key, an asset is an empty text unless its hash shows otherwise.
func newAsset(hash, text, path, uri string, hasText bool) Asset {
	switch {
	case path != "":
		return Asset{Hash: hash, Kind: KindPath, Path: path}
	case uri != "":
		return Asset{Hash: hash, Kind: KindURI, URI: uri}
	case hasText || text != "" || hash == "" || hash == emptyAssetHash:
		return Asset{Hash: hash, Kind: KindText, Text: text}
	default:
		return Asset{Hash: hash, Kind: KindElided}
	}
}

// newArchive does the same for archives.
func newArchive(hash, path, uri string, members Map) Archive {
	switch {
	case path != "":
		return Archive{Hash: hash, Kind: KindPath, Path: path}
	case uri != "":
		return Archive{Hash: hash, Kind: KindURI, URI: uri}
	case members.Len() > 0 || hash == "" || hash == emptyArchiveHash:
		return Archive{Hash: hash, Kind: KindMembers, Members: members}
	default:
		return Archive{Hash: hash, Kind: KindElided}
	}
}
