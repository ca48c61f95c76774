package jsonschema

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// formats are the formats of texts that are checked. Others are remarks.
var formats = map[string]func(string) error{
	"date":                  date,
	"date-time":             dateTime,
	"duration":              duration,
	"email":                 email,
	"hostname":              hostname,
	"ipv4":                  ipv4,
	"ipv6":                  ipv6,
	"iri":                   uri,
	"iri-reference":         uriReference,
	"json-pointer":          jsonPointer,
	"regex":                 regex,
	"relative-json-pointer": relativeJSONPointer,
	"time":                  timeOfDay,
	"uri":                   uri,
	"uri-reference":         uriReference,
	"uri-template":          uriTemplate,
	"uuid":                  uniqueID,
}

func date(text string) error {
	_, err := time.Parse(time.DateOnly, text)
	return err
}

func dateTime(text string) error {
	day, clock, found := strings.Cut(strings.ToUpper(text), "T")
	if !found {
		return errors.New("it has no T between date and time")
	}
	if err := date(day); err != nil {
		return err
	}
	return timeOfDay(clock)
}

// timeOfDay is RFC 3339's full-time. A second 60 is one that UTC has at the end of a day.
func timeOfDay(text string) error {
	text = strings.ToUpper(text)
	leap := len(text) > 8 && text[5:8] == ":60"
	if leap {
		text = text[:5] + ":59" + text[8:]
	}
	if strings.Contains(text, ",") || len(text) < 2 || text[1] == ':' { // time.Parse allows them
		return errors.New("it is not like 15:04:05Z")
	}
	at, err := time.Parse("15:04:05Z07:00", text)
	if err == nil && leap && at.UTC().Format("15:04") != "23:59" {
		return errors.New("a minute has 60 seconds")
	}
	if n := len(text); err == nil && text[n-1] != 'Z' && (text[n-5:n-3] > "23" || text[n-2:] > "59") { // time.Parse allows 24:60
		return errors.New("its offset is out of range")
	}
	return err
}

// duration is that of RFC 3339.
func duration(text string) error {
	rest, found := strings.CutPrefix(text, "P")
	if !found {
		return errors.New("it does not start with P")
	}
	if weeks, isWeeks := strings.CutSuffix(rest, "W"); isWeeks && digits(weeks) {
		return nil
	}
	days, times, hasTimes := strings.Cut(rest, "T")
	if rest == "" || hasTimes && times == "" || !quantities(days, "YMD") || !quantities(times, "HMS") {
		return errors.New("it is not like P1DT2H")
	}
	return nil
}

// quantities reports whether a text consists of numbers with some of the units, in their order.
func quantities(text, units string) bool {
	for text != "" {
		unit := strings.IndexAny(text, units)
		if unit < 0 || !digits(text[:unit]) {
			return false
		}
		units = units[strings.IndexByte(units, text[unit])+1:]
		text = text[unit+1:]
		if units == "" && text != "" {
			return false
		}
	}
	return true
}

func digits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

func email(text string) error {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return errors.New("it has no @")
	}
	local, domain := text[:at], text[at+1:]
	if len(local) > 64 || len(text) > 254 {
		return errors.New("it is too long")
	}
	if len(local) > 1 && local[0] == '"' && local[len(local)-1] == '"' {
		if strings.ContainsAny(local[1:len(local)-1], `\"`) {
			return errors.New("there is a quote or a backslash within quotes")
		}
	} else if !characters(local, "!#$%&'*+-/=?^_`{|}~.") || strings.Contains("."+local+".", "..") && local != "" {
		return errors.New("the part before the @ has a character or a dot where there may be none")
	}
	if strings.HasPrefix(domain, "[") && strings.HasSuffix(domain, "]") {
		address := domain[1 : len(domain)-1]
		if v6, isV6 := strings.CutPrefix(address, "IPv6:"); isV6 {
			return ipv6(v6)
		}
		return ipv4(address)
	}
	return hostname(domain)
}

// characters reports whether a text has only letters and digits of ASCII and the others.
func characters(text, others string) bool {
	for _, c := range text {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(others, c)) {
			return false
		}
	}
	return true
}

func hostname(text string) error {
	text = strings.TrimSuffix(text, ".")
	if len(text) > 253 {
		return errors.New("it is too long")
	}
	for label := range strings.SplitSeq(text, ".") {
		if len(label) < 1 || len(label) > 63 {
			return errors.New("the parts of a name have 1 to 63 characters")
		}
		if !characters(label, "-") || label[0] == '-' || label[len(label)-1] == '-' {
			return fmt.Errorf("%q is no part of a name", label)
		}
	}
	return nil
}

func ipv4(text string) error {
	address, err := netip.ParseAddr(text)
	if err == nil && !address.Is4() {
		return errors.New("it is an IPv6 address")
	}
	return err
}

func ipv6(text string) error {
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return err
	case !address.Is6():
		return errors.New("it is an IPv4 address")
	case address.Zone() != "":
		return errors.New("it has a zone")
	}
	return nil
}

func uri(text string) error {
	u, err := parseURI(text)
	if err == nil && !u.IsAbs() {
		return errors.New("it has no scheme")
	}
	return err
}

func uriReference(text string) error {
	if strings.Contains(text, `\`) {
		return errors.New("it has a backslash")
	}
	_, err := parseURI(text)
	return err
}

func uriTemplate(text string) error {
	if _, err := parseURI(text); err != nil {
		return err
	}
	open := false
	for _, c := range text {
		if c == '{' && open || c == '}' && !open {
			return errors.New("its braces do not match")
		}
		open = c == '{' || open && c != '}'
	}
	if open {
		return errors.New("its braces do not match")
	}
	return nil
}

func parseURI(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if host := u.Hostname(); strings.Contains(host, ":") {
		if !strings.HasPrefix(u.Host, "[") {
			return nil, errors.New("an IPv6 address is not in brackets")
		}
		return u, ipv6(host)
	}
	return u, nil
}

func jsonPointer(text string) error {
	if text != "" && text[0] != '/' {
		return errors.New("it does not start with /")
	}
	if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(text), "~") {
		return errors.New("there is a ~ without 0 or 1")
	}
	return nil
}

func relativeJSONPointer(text string) error {
	up := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if _, err := strconv.Atoi(text[:up]); err != nil || up > 1 && text[0] == '0' {
		return errors.New("it does not start with a number")
	}
	if text[up:] == "#" {
		return nil
	}
	return jsonPointer(text[up:])
}

func regex(text string) error {
	_, err := regexp.Compile(text)
	return err
}

func uniqueID(text string) error {
	if len(text) != 36 { // there are other forms
		return errors.New("it has not 36 characters")
	}
	return uuid.Validate(text)
}
