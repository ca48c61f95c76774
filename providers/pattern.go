package providers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gobwas/glob"

	"github.com/sluice-iac/sluice/urn"
)

// Pattern is a name, or one in which "*" stands for any characters.
type Pattern struct{ compiled *glob.Pattern }

// ParsePattern parses a pattern.
func ParsePattern(text string) (*Pattern, error) {
	if strings.ContainsAny(text, `?[]{}\!`) {
		return nil, fmt.Errorf("%q is not a name or a pattern; the only character that stands for others is *", text)
	}
	g, err := glob.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return &Pattern{g}, nil
}

// Match reports whether the pattern matches a name.
func (p *Pattern) Match(name string) bool { return p.compiled.Match(name) }

// MatchType reports whether the pattern matches the type of a resource or the token of a function, as states have it or as YAML programs may write it:
// aws:s3/bucket:Bucket is also aws:s3:Bucket, and random:index:RandomPet is also random:RandomPet.
func (p *Pattern) MatchType(t urn.Type) bool {
	return p.Match(string(t)) || slices.ContainsFunc(t.Forms(), p.Match)
}
