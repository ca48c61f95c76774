package property

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxText is the approximate maximum length of the text of a value, in bytes; the rest is cut off.
const MaxText = 1 << 10

// maxItem is the maximum number of bytes of one string in a text.
const maxItem = 200

// writeText writes a value, or "..." when the text is long enough.
func writeText(b *strings.Builder, v Value, depth int) {
	if b.Len() > MaxText || depth > maxItem {
		b.WriteString("...")
		return
	}
	switch x := v.v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case float64:
		b.WriteString(strconv.FormatFloat(x, 'g', -1, 64))
	case string:
		writeQuoted(b, x)
	case Unknown:
		b.WriteString("[unknown]")
	case *secret:
		b.WriteString("[secret]")
	case *Output:
		writeOutput(b, x, depth)
	case Array:
		b.WriteByte('[')
		for i, item := range x.a {
			if !separate(b, i) {
				break
			}
			writeText(b, item, depth+1)
		}
		b.WriteByte(']')
	case Map:
		writeObject(b, x, depth)
	case Asset:
		b.WriteString("asset(")
		writeBlob(b, x.Text, x.Path, x.URI, x.Hash)
		b.WriteByte(')')
	case Archive:
		b.WriteString("archive(")
		if x.Kind == KindMembers {
			writeObject(b, x.Members, depth)
		} else {
			writeBlob(b, "", x.Path, x.URI, x.Hash)
		}
		b.WriteByte(')')
	case Reference:
		b.WriteString("resource(" + shortened(string(x.URN)) + ")")
	}
}

func writeOutput(b *strings.Builder, o *Output, depth int) {
	switch {
	case o.Secret:
		b.WriteString("[secret]")
	case !o.Known:
		b.WriteString("[unknown]")
	default:
		writeText(b, o.Element, depth+1)
	}
}

func writeObject(b *strings.Builder, m Map, depth int) {
	b.WriteByte('{')
	i := 0
	for name, item := range m.All() {
		if !separate(b, i) {
			break
		}
		i++
		b.WriteString(shortened(Path{Key(name)}.String()))
		b.WriteString(": ")
		writeText(b, item, depth+1)
	}
	b.WriteByte('}')
}

// separate writes the separator before item i, and reports whether there is room for the item.
func separate(b *strings.Builder, i int) bool {
	if i > 0 {
		b.WriteString(", ")
	}
	if b.Len() <= MaxText {
		return true
	}
	b.WriteString("...")
	return false
}

// writeBlob writes the first of the texts that is not empty.
func writeBlob(b *strings.Builder, texts ...string) {
	for _, s := range texts {
		if s != "" {
			writeQuoted(b, s)
			return
		}
	}
}

func writeQuoted(b *strings.Builder, s string) {
	short, cut := strings.CutSuffix(shortened(s), "...")
	if !cut || len(s) <= maxItem {
		b.WriteString(strconv.Quote(s))
		return
	}
	b.WriteString(strconv.Quote(short) + "...")
}

// shortened cuts off the end of a text that is too long, between two characters.
func shortened(s string) string {
	if len(s) <= maxItem {
		return s
	}
	end := maxItem
	for end > maxItem-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
