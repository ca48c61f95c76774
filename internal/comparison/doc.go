// Package comparison finds what differs between two values in the way in which people look at them: items of arrays are matched by what they
// are, whatever their index, and texts that hold JSON or YAML are compared by value.
//
// It decides nothing and shows nothing. What a provider is asked for is compared by package property.
//
// Invariant: the same values have the same differences, and the time grows with the size of the values times its logarithm.
package comparison
