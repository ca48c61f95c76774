package state

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-iac/sluice/property"
)

// Feature names something in a deployment that a reader has to support ([state.md 1.3]). A deployment that uses one has
// version 4.
//
// [state.md 1.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#13-features
type Feature string

// The features, in ascending order of their names.
const (
	FeatureByteString                Feature = "byteString"
	FeatureExtensionParameterization Feature = "extensionParameterization"
	FeatureHooks                     Feature = "hooks"
	FeatureRefreshBeforeUpdate       Feature = "refreshBeforeUpdate"
	FeatureReplaceWith               Feature = "replaceWith"
	FeatureSnippets                  Feature = "snippets-prototype"
	FeatureTaint                     Feature = "taint"
	FeatureViews                     Feature = "views"
)

func allFeatures() []Feature {
	return []Feature{
		FeatureByteString, FeatureExtensionParameterization, FeatureHooks, FeatureRefreshBeforeUpdate,
		FeatureReplaceWith, FeatureSnippets, FeatureTaint, FeatureViews,
	}
}

// UnsupportedFeaturesError reports that a file needs features that this version does not support.
type UnsupportedFeaturesError struct{ Features []string }

func (e *UnsupportedFeaturesError) Error() string {
	return fmt.Sprintf("this stack's deployment needs support for the following features: %s; use a newer version of sluice",
		strings.Join(e.Features, ", "))
}

func checkFeatures(names []string) error {
	var unknown []string
	for _, n := range names {
		if !slices.Contains(allFeatures(), Feature(n)) {
			unknown = append(unknown, n)
		}
	}
	if unknown != nil {
		return &UnsupportedFeaturesError{unknown}
	}
	return nil
}

// Features returns the features that s uses, in ascending order.
func Features(s *Snapshot) []Feature {
	var set featureSet
	for _, r := range s.Resources {
		set |= featuresOf(r, holdsBytes(r))
	}
	for _, p := range s.Pending {
		set |= featuresOf(p.Resource, holdsBytes(p.Resource))
	}
	names := set.with(s).list()
	fs := make([]Feature, len(names))
	for i, n := range names {
		fs[i] = Feature(n)
	}
	return fs
}

// CheckMutable returns an [*UnsupportedFeaturesError] for a snapshot that an update must not change: nothing declares what snippets have made, so
// it would be deleted ([state.md 1.3]). Refreshes and destroys, and edits that only move or drop entries, are allowed. A nil snapshot may be changed.
//
// [state.md 1.3]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#13-features
func CheckMutable(s *Snapshot) error {
	if s == nil {
		return nil
	}
	var carried []string
	for _, f := range Features(s) {
		if f == FeatureSnippets {
			carried = append(carried, string(f))
		}
	}
	if carried != nil {
		return &UnsupportedFeaturesError{carried}
	}
	return nil
}

// featureSet has one bit for each of [allFeatures].
type featureSet uint16

func bit(f Feature) featureSet { return 1 << slices.Index(allFeatures(), f) }

// with adds the features that the snapshot itself uses beside its resources.
func (set featureSet) with(s *Snapshot) featureSet {
	if len(s.Snippets) > 0 {
		set |= bit(FeatureSnippets)
	}
	return set
}

func (set featureSet) list() []string {
	var fs []string
	for i, f := range allFeatures() {
		if set&(1<<i) != 0 {
			fs = append(fs, string(f))
		}
	}
	return fs
}

// appendHeader writes the version that the features require (state.md 1.2).
func (set featureSet) appendHeader(b []byte) []byte {
	if set == 0 {
		return appendHeader(b, versionPlain, nil)
	}
	return appendHeader(b, versionFeatures, set.list())
}

func featuresOf(r *Resource, byteStrings bool) featureSet {
	var set featureSet
	add := func(f Feature, used bool) {
		if used {
			set |= bit(f)
		}
	}
	add(FeatureRefreshBeforeUpdate, r.RefreshBeforeUpdate)
	add(FeatureViews, r.ViewOf != "")
	add(FeatureHooks, len(r.ResourceHooks) > 0)
	add(FeatureTaint, r.Taint)
	add(FeatureReplaceWith, len(r.ReplaceWith) > 0)
	add(FeatureExtensionParameterization, r.ExtensionRef != "")
	add(FeatureSnippets, r.SnippetID != "")
	add(FeatureByteString, byteStrings)
	return set
}

// holdsBytes reports whether a string somewhere in r's properties is not UTF-8 (state.md 2.8).
func holdsBytes(r *Resource) bool {
	return bytesIn(property.Of(r.Inputs)) || bytesIn(property.Of(r.Outputs)) || bytesIn(r.ReplacementTrigger)
}

// The texts that an encoded resource contains if it has a string that is not UTF-8, or a secret that may hide one.
const (
	byteStringMark = `"803fd3297a5875dc03ca845dda5d2a98"`
	secretMark     = `"1b47061264138c4ac30d75fd1eb44270"`
)

// holdsBytesEncoded is [holdsBytes] for an encoded resource; the text rules most resources out fast.
func holdsBytesEncoded(r *Resource, text []byte) bool {
	return (bytes.Contains(text, []byte(byteStringMark)) || bytes.Contains(text, []byte(secretMark))) && holdsBytes(r)
}

func bytesIn(v property.Value) bool {
	switch {
	case v.IsString():
		return !utf8.ValidString(v.AsString())
	case v.IsMap():
		for _, e := range v.AsMap().All() {
			if bytesIn(e) {
				return true
			}
		}
	case v.IsArray():
		for _, e := range v.AsArray().All() {
			if bytesIn(e) {
				return true
			}
		}
	case v.IsSecret():
		return bytesIn(v.AsSecret())
	case v.IsOutput():
		return bytesIn(v.AsOutput().Element)
	}
	return false
}
