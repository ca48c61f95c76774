package std

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func numberFunctions() []native.Function {
	return []native.Function{
		ofNumber("abs", "A number without its sign.", math.Abs), ofNumber("ceil", "The next whole number above.", math.Ceil),
		ofNumber("floor", "The next whole number below.", math.Floor),
		twoNumbers("log", "A logarithm.", "input", "base", func(x, base float64) float64 { return math.Log(x) / math.Log(base) }),
		twoNumbers("pow", "A power.", "base", "exponent", math.Pow),
		fn("signum", "1 for a positive number, -1 for a negative one, else 0.", native.Of(native.KindInteger),
			func(in native.Values) (property.Value, error) {
				switch x := in.Number("input"); {
				case x > 0:
					return native.Int(1), nil
				case x < 0:
					return native.Int(-1), nil
				}
				return native.Int(0), nil
			}, arg("input", numberType())),
		ofNumbers("max", "The largest number.", slices.Max[[]float64]), ofNumbers("min", "The smallest number.", slices.Min[[]float64]),
		fn("sum", "The sum of numbers.", numberType(), func(in native.Values) (property.Value, error) {
			total := 0.0
			for _, v := range in.List("input") {
				total += v.AsNumber()
			}
			return property.Number(total), nil
		}, arg("input", native.ArrayOf(numberType()))),
		fn("parseint", "A number of its digits to a base, which is 10 by default and 62 at most.", native.Of(native.KindInteger), parseInt,
			optional("base", native.Of(native.KindInteger)), arg("input", textType())),
		fn("range", "The numbers from start, which is 0 by default, to limit, which is not one of them.", native.ArrayOf(numberType()), numbers,
			arg("limit", numberType()), optional("start", numberType()), optional("step", numberType())),
	}
}

func ofNumber(name, doc string, f func(float64) float64) native.Function {
	return fn(name, doc, numberType(), func(in native.Values) (property.Value, error) {
		return property.Number(f(in.Number("input"))), nil
	}, arg("input", numberType()))
}

func twoNumbers(name, doc, first, second string, f func(a, b float64) float64) native.Function {
	return fn(name, doc, numberType(), func(in native.Values) (property.Value, error) {
		result := f(in.Number(first), in.Number(second))
		if math.IsNaN(result) || math.IsInf(result, 0) {
			return property.Null, fmt.Errorf("it has no value for %v and %v", in.Number(first), in.Number(second))
		}
		return property.Number(result), nil
	}, arg(first, numberType()), arg(second, numberType()))
}

func ofNumbers(name, doc string, f func([]float64) float64) native.Function {
	return fn(name, doc, numberType(), func(in native.Values) (property.Value, error) {
		var all []float64
		for _, v := range in.List("input") {
			all = append(all, v.AsNumber())
		}
		if len(all) == 0 {
			return property.Null, errors.New("the list is empty")
		}
		return property.Number(f(all)), nil
	}, arg("input", native.ArrayOf(numberType())))
}

func parseInt(in native.Values) (property.Value, error) {
	base := 10
	if in.Has("base") {
		base = in.Int("base")
	}
	if base < 2 || base > 62 {
		return property.Null, fmt.Errorf("the base is %d; it must be from 2 to 62", base)
	}
	n, ok := new(big.Int).SetString(in.Text("input"), base)
	if !ok || !n.IsInt64() {
		return property.Null, fmt.Errorf("%q is not a number to the base %d, or too large", in.Text("input"), base)
	}
	return native.Int(n.Int64()), nil
}

// mostNumbers limits how many numbers a range may have.
const mostNumbers = 1 << 20

func numbers(in native.Values) (property.Value, error) {
	start, limit, step := in.Number("start"), in.Number("limit"), in.Number("step")
	if step == 0 {
		step = 1
		if start > limit {
			step = -1
		}
	}
	n := math.Max(0, math.Ceil((limit-start)/step))
	if n > mostNumbers {
		return property.Null, fmt.Errorf("a range of %v numbers is too large; %d are the most", n, mostNumbers)
	}
	out := make([]property.Value, int(n))
	for i := range out {
		out[i] = property.Number(start + float64(i)*step)
	}
	return property.ArrayOf(out...), nil
}
