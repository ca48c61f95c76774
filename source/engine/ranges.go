package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Satisfies reports whether [CompatibilityVersion] lies in a range of versions such as ">=3.5.0 !3.7.7 || 4.x". A malformed range is an
// error.
func Satisfies(text string) (bool, error) { return satisfies(CompatibilityVersion, text) }

// Require returns an error if [CompatibilityVersion] does not lie in the range of versions that a file requires by its requiredPulumiVersion, or if
// the range is malformed. An empty range requires nothing ([state.md 6.1]).
//
// [state.md 6.1]: https://github.com/sluice-iac/sluice/blob/main/docs/spec/state.md#61-project-file
func Require(file, text string) error {
	if text == "" {
		return nil
	}
	ok, err := Satisfies(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s: requiredPulumiVersion: %w; write a range such as \">=3.0.0\"", file, err)
	case !ok:
		// Scripts look for the words from "Pulumi CLI version" to the range.
		return fmt.Errorf("%s: Pulumi CLI version %s does not satisfy the version range %q of requiredPulumiVersion, and sluice "+
			"behaves as that version; change the range if that is good enough", file, CompatibilityVersion, text)
	}
	return nil
}

// satisfies reports whether a version lies in a range as programs write it: comparisons joined by spaces (all must hold) and by "||" (one
// must), with the operators = == ! != < <= > >= and "x" for any number, for example ">=3.5.0 !3.7.7 || 4.x" (protocol.md 5.1). The semver
// package has other ranges: "!=" is the only "not" there, and a prerelease never satisfies a plain range.
func satisfies(version, text string) (bool, error) {
	v, err := semver.NewVersion(version)
	if err != nil {
		return false, fmt.Errorf("the engine's own version %q: %w", version, err)
	}
	any := false
	for alternative := range strings.SplitSeq(text, "||") {
		all, err := satisfiesAll(v, alternative)
		if err != nil {
			return false, fmt.Errorf("invalid version range %q: %w", text, err)
		}
		any = any || all
	}
	return any, nil
}

func satisfiesAll(v *semver.Version, text string) (bool, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return false, errors.New("a comparison such as >=3.0.0 is missing")
	}
	all := true
	for i := 0; i < len(words); i++ {
		operator, operand := splitOperator(words[i])
		if operand == "" && i+1 < len(words) {
			i++
			operand = words[i]
		}
		holds, err := compare(v, operator, operand)
		if err != nil {
			return false, err
		}
		all = all && holds
	}
	return all, nil
}

func splitOperator(word string) (operator, operand string) {
	operand = strings.TrimLeft(word, "=!<>")
	return word[:len(word)-len(operand)], operand
}

// compare compares v with an operand that stands for all versions from low up to, but without, high: one version, or several if it contains
// an "x".
func compare(v *semver.Version, operator, operand string) (bool, error) {
	low, high, err := bounds(operand)
	if err != nil {
		return false, err
	}
	below := v.LessThan(low)
	above := v.GreaterThan(low)
	if high != nil {
		above = !v.LessThan(high)
	}
	switch operator {
	case "", "=", "==":
		return !below && !above, nil
	case "!", "!=":
		return below || above, nil
	case "<":
		return below, nil
	case "<=":
		return !above, nil
	case ">":
		return above, nil
	case ">=":
		return !below, nil
	}
	return false, fmt.Errorf("unknown operator %q", operator)
}

// bounds returns the range that "1.2.x" or "1.x" stands for, without high itself; high is nil for a single version.
func bounds(operand string) (low, high *semver.Version, err error) {
	parts := strings.Split(operand, ".")
	last := parts[len(parts)-1]
	if len(parts) == 3 && last != "x" || len(parts) > 3 {
		low, err = semver.StrictNewVersion(operand)
		return low, nil, err
	}
	if len(parts) < 2 || last != "x" {
		return nil, nil, fmt.Errorf("%q is not a version such as 3.0.0", operand)
	}
	fixed := len(parts) - 1
	if parts[fixed-1] == "x" { // "1.x.x"
		fixed--
	}
	if fixed == 0 {
		return nil, nil, fmt.Errorf("%q is not a version such as 3.0.0", operand)
	}
	low, err = semver.StrictNewVersion(strings.Join(parts[:fixed], ".") + strings.Repeat(".0", 3-fixed))
	if err != nil {
		return nil, nil, err
	}
	next := low.IncMinor()
	if fixed == 1 {
		next = low.IncMajor()
	}
	return low, &next, nil
}
