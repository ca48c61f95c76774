// Package aliases writes the option, in the language of the program, for the alias that keeps the object of a renamed resource.
//
// Invariant: the text is one line that can be pasted, whatever the names are.
package aliases

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sluice-iac/sluice/stages/renames"
	"github.com/sluice-iac/sluice/urn"
)

// Text returns the option for a program in a runtime, such as "nodejs". For other languages it returns the former URN.
func Text(runtime string, r renames.Rename) string {
	forms, name := byName, r.Name
	if name == "" {
		forms, name = byURN, string(r.From)
	}
	if runtime == "yaml" {
		name = strings.ReplaceAll(name, "${", "$${")
	}
	if form, ok := forms[runtime]; ok {
		return fmt.Sprintf(form, quoted(name))
	}
	return "an alias for " + quoted(string(r.From))
}

// Own returns the renames that need an alias of their own, and for each of them the number of other renames that it implies.
func Own(all []renames.Rename) (own []renames.Rename, with map[urn.URN]int) {
	byName := map[urn.URN]renames.Rename{}
	for _, r := range all {
		byName[r.To] = r
		if r.With == "" {
			own = append(own, r)
		}
	}
	with = map[urn.URN]int{}
	for _, r := range all {
		if r.With == "" {
			continue
		}
		for r.With != "" {
			r = byName[r.With]
		}
		with[r.To]++
	}
	return own, with
}

var byName = map[string]string{
	"yaml":   `options: {aliases: [{name: %s}]}`,
	"nodejs": `{ aliases: [{ name: %s }] }`,
	"python": `opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name=%s)])`,
	"go":     `pulumi.Aliases([]pulumi.Alias{{Name: pulumi.String(%s)}})`,
	"java":   `CustomResourceOptions.builder().aliases(Alias.builder().name(%s).build()).build()`,
}

var byURN = map[string]string{
	"yaml":   `options: {aliases: [%s]}`,
	"nodejs": `{ aliases: [%s] }`,
	"python": `opts=pulumi.ResourceOptions(aliases=[%s])`,
	"go":     `pulumi.Aliases([]pulumi.Alias{{URN: pulumi.URN(%s)}})`,
	"java":   `CustomResourceOptions.builder().aliases(Alias.withUrn(%s)).build()`,
}

// quoted quotes a text so that all these languages read it alike.
func quoted(text string) string {
	out := []rune{'"'}
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', r)
		case unicode.IsPrint(r):
			out = append(out, r)
		default:
			out = append(out, []rune(fmt.Sprintf(`\u%04x`, min(r, unicode.ReplacementChar)))...)
		}
	}
	return string(append(out, '"'))
}
