package random

import (
	"context"
	"fmt"
	"hash/crc64"
	"math/rand"
	"strconv"
	"strings"
	"time"

	petname "github.com/dustinkirkland/golang-petname"
	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers"
	"github.com/sluice-iac/sluice/providers/native"
)

// seeded returns the same generator as the public package for a seed: the same seed gives the same choices. Without a
// seed they differ every time. It must not be used for secrets.
func seeded(seed string) *rand.Rand {
	if seed == "" {
		return rand.New(rand.NewSource(time.Now().UnixNano()))
	}
	return rand.New(rand.NewSource(int64(crc64.Checksum([]byte(seed), crc64.MakeTable(crc64.ISO)))))
}

func integer() native.Resource {
	return native.Resource{
		Type: token("RandomInteger"), Doc: "A whole number from a range.",
		Inputs: []native.Field{
			required("max", native.KindInteger, "The largest number, inclusive."),
			required("min", native.KindInteger, "The smallest number, inclusive."),
			optional("seed", native.KindString, "The same seed gives the same number."),
		},
		Computed: []native.Field{computed("result", native.KindInteger, "The number.")},
		Check: func(in native.Values) []providers.CheckFailure {
			if in.Has("min") && in.Has("max") && in.Int("min") > in.Int("max") {
				return []providers.CheckFailure{{Property: "min", Reason: fmt.Sprintf(
					"property %q is %d, more than max, which is %d", "min", in.Int("min"), in.Int("max"))}}
			}
			return nil
		},
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			least, most := c.Inputs.Int("min"), c.Inputs.Int("max")
			if most+1-least <= 0 {
				return native.Made{}, fmt.Errorf("there are too many numbers from %d to %d, or none", least, most)
			}
			n := seeded(c.Inputs.Text("seed")).Intn(most+1-least) + least
			return native.Made{ID: strconv.Itoa(n), Outputs: native.Outputs{"result": native.Int(n)}}, nil
		},
		Import: importInteger,
	}
}

// importInteger reads "<result>,<min>,<max>[,<seed>]".
func importInteger(_ context.Context, c native.Call) (native.Made, error) {
	parts := strings.Split(c.ID, ",")
	if len(parts) != 3 && len(parts) != 4 {
		return native.Made{}, fmt.Errorf("the ID must be <result>,<min>,<max> or <result>,<min>,<max>,<seed>")
	}
	outputs := native.Outputs{}
	for i, name := range []string{"result", "min", "max"} {
		n, err := strconv.ParseInt(parts[i], 10, 64)
		if err != nil {
			return native.Made{}, fmt.Errorf("the %s in the ID: %w", name, err)
		}
		outputs[name] = native.Int(n)
	}
	if len(parts) == 4 {
		outputs["seed"] = native.Text(parts[3])
	}
	return native.Made{ID: parts[0], Outputs: outputs}, nil
}

func pet() native.Resource {
	return native.Resource{
		Type: token("RandomPet"), Doc: "A name of words, the last of which is an animal. It is the ID.",
		Inputs: []native.Field{
			withDefault(optional("length", native.KindInteger, "How many words."), native.Int(2)),
			optional("prefix", native.KindString, "What the name starts with."),
			withDefault(optional("separator", native.KindString, "What stands between words."), native.Text("-")),
		},
		Check: notNegative("length", 1),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			separator := c.Inputs.Text("separator")
			name := strings.ToLower(petname.Generate(c.Inputs.Int("length"), separator))
			if prefix := c.Inputs.Text("prefix"); prefix != "" {
				name = prefix + separator + name
			}
			return native.Made{ID: name}, nil
		},
	}
}

func shuffle() native.Resource {
	return native.Resource{
		Type: token("RandomShuffle"), Doc: "A list in random order, or as many elements of it as wanted.",
		Inputs: []native.Field{
			{Name: "inputs", Type: native.ArrayOf(native.Of(native.KindString)), Required: true, Doc: "The list."},
			optional("resultCount", native.KindInteger, "How many elements; all by default. If there are fewer, they repeat."),
			optional("seed", native.KindString, "The same seed gives the same order."),
		},
		Computed: []native.Field{{
			Name: "results", Type: native.ArrayOf(native.Of(native.KindString)), Required: true, Doc: "The shuffled list.",
		}},
		Check: notNegative("resultCount", 0),
		Create: func(_ context.Context, c native.Call) (native.Made, error) {
			from := c.Inputs.List("inputs")
			wanted := len(from)
			if c.Inputs.Has("resultCount") {
				wanted = c.Inputs.Int("resultCount")
			}
			results := shuffled(from, wanted, seeded(c.Inputs.Text("seed")))
			return native.Made{ID: "-", Outputs: native.Outputs{"results": property.ArrayOf(results...)}}, nil
		},
	}
}

// shuffled concatenates permutations of the list until there are enough elements.
func shuffled(from []property.Value, wanted int, r *rand.Rand) []property.Value {
	var out []property.Value
	for len(from) > 0 && len(out) < wanted {
		for _, i := range r.Perm(len(from)) {
			if len(out) < wanted {
				out = append(out, from[i])
			}
		}
	}
	return out
}
