package property

import "strings"

// The signature key marks an object as a special value; its text is the kind ([protocol.md 2.1], [state.md 2]).
//
// [protocol.md 2.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#21-encoding
// [state.md 2]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#2-values
const (
	SignatureKey = "4dabf18193072939515e22adb298388d"

	secretSignature     = "1b47061264138c4ac30d75fd1eb44270"
	assetSignature      = "c44067f5952c0a294b673a41bacd8c17"
	archiveSignature    = "0def7320c3a5731c473e5ecbe6d01bc7"
	referenceSignature  = "5cf8f73096256a8f31e491e813e4eb8e"
	outputSignature     = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
	byteStringSignature = "803fd3297a5875dc03ca845dda5d2a98"
	floatSignature      = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c"
)

// The strings that represent unknown values (protocol.md 2.2).
const (
	unknownStringSentinel  = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
	unknownBoolSentinel    = "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7"
	unknownNumberSentinel  = "3eeb2bf0-c639-47a8-9e75-3b44932eb421"
	unknownArraySentinel   = "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"
	unknownAssetSentinel   = "030794c1-ac77-496b-92df-f27374a8bd58"
	unknownArchiveSentinel = "e48ece36-62e2-4504-bad9-02848725956a"
	unknownObjectSentinel  = "dd056dcd-154b-4c76-9bd3-c8f88648b5ff"
)

// IsUnknownMarker reports whether a text is one of those that represent unknown values on the wire and in states.
func IsUnknownMarker(s string) bool {
	_, ok := unknownFromSentinel(s)
	return ok
}

// HasUnknownMarker reports whether a text contains such a text: a program has put an unknown value into it.
func HasUnknownMarker(s string) bool {
	const beforeDash, fromDash = 8, sentinelLength - 8
	for at := beforeDash; at+fromDash <= len(s); at++ {
		dash := strings.IndexByte(s[at:len(s)-fromDash+1], '-')
		if dash < 0 {
			return false
		}
		at += dash
		if IsUnknownMarker(s[at-beforeDash : at+fromDash]) {
			return true
		}
	}
	return false
}

const sentinelLength = len(unknownStringSentinel)

func unknownFromSentinel(s string) (UnknownKind, bool) {
	if len(s) != sentinelLength {
		return "", false
	}
	switch s {
	case unknownStringSentinel:
		return UnknownString, true
	case unknownBoolSentinel:
		return UnknownBool, true
	case unknownNumberSentinel:
		return UnknownNumber, true
	case unknownArraySentinel:
		return UnknownArray, true
	case unknownAssetSentinel:
		return UnknownAsset, true
	case unknownArchiveSentinel:
		return UnknownArchive, true
	case unknownObjectSentinel:
		return UnknownObject, true
	}
	return "", false
}

// IsInternalName reports whether a top-level property is internal to SDKs, such as "__defaults": stored and sent to
// providers, but not shown to people or policies ([protocol.md 2.1]).
//
// [protocol.md 2.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/protocol.md#21-encoding
func IsInternalName(name string) bool { return strings.HasPrefix(name, "__") }
