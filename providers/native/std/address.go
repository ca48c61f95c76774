package std

import (
	"errors"
	"fmt"
	"math/big"
	"net"

	"github.com/apparentlymart/go-cidr/cidr"

	"github.com/sluice-iac/sluice/property"
	"github.com/sluice-iac/sluice/providers/native"
)

func addresses() []native.Function {
	number := native.Of(native.KindInteger)
	return []native.Function{
		ofNetwork("cidrhost", "The address of a host in a network such as 10.0.0.0/8; negative numbers count from its end.",
			textType(), func(n *net.IPNet, in native.Values) (property.Value, error) {
				ip, err := cidr.HostBig(n, big.NewInt(int64(in.Int("host"))))
				if err != nil {
					return property.Null, err
				}
				return native.Text(ip.String()), nil
			}, arg("host", number)),
		ofNetwork("cidrnetmask", "The mask of an IPv4 network.", textType(), func(n *net.IPNet, _ native.Values) (property.Value, error) {
			if n.IP.To4() == nil {
				return property.Null, errors.New("networks of IPv6 have no mask")
			}
			return native.Text(net.IP(n.Mask).String()), nil
		}),
		ofNetwork("cidrsubnet", "A part of a network: its prefix is longer by newbits bits, which have the value netnum.", textType(),
			func(n *net.IPNet, in native.Values) (property.Value, error) {
				sub, err := cidr.SubnetBig(n, in.Int("newbits"), big.NewInt(int64(in.Int("netnum"))))
				if err != nil {
					return property.Null, err
				}
				return native.Text(sub.String()), nil
			}, arg("netnum", number), arg("newbits", number)),
		ofNetwork("cidrsubnets", "Parts of a network, one after the other, with prefixes that are longer by so many bits.", textsType(), subnets,
			arg("newbits", native.ArrayOf(number))),
	}
}

func ofNetwork(
	name, doc string, result native.Type, f func(*net.IPNet, native.Values) (property.Value, error), args ...native.Field,
) native.Function {
	return fn(name, doc, result, func(in native.Values) (property.Value, error) {
		_, network, err := net.ParseCIDR(in.Text("input"))
		if err != nil {
			return property.Null, err
		}
		return f(network, in)
	}, append(args, arg("input", textType()))...)
}

func subnets(network *net.IPNet, in native.Values) (property.Value, error) {
	prefix, bits := network.Mask.Size()
	var out []string
	var last *net.IPNet
	for i, v := range in.List("newbits") {
		more := int(v.AsNumber())
		if more < 1 || more > 32 || prefix+more > bits {
			return property.Null, fmt.Errorf("newbits[%d] is %d; a prefix of %d bits can have 1 to %d more", i, more, prefix, min(32, bits-prefix))
		}
		if last == nil {
			last, _ = cidr.PreviousSubnet(network, prefix+more) // that before the first
		}
		next, beyond := cidr.NextSubnet(last, prefix+more)
		if beyond || !network.Contains(next.IP) {
			return property.Null, fmt.Errorf("newbits[%d]: there is no room after %s", i, last)
		}
		out, last = append(out, next.String()), next
	}
	return native.Texts(out), nil
}
