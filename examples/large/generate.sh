# Prints a YAML program with as many resources as the setting "size" says. Resource n depends on resource n/10, so that there
# are chains of different lengths, and one in a hundred needs a replacement when the setting "region" changes.
setting() { printf '%s' "$PULUMI_CONFIG" | sed -n "s/.*\"large:$1\": *\"\\([^\"]*\\)\".*/\\1/p"; }
size=$(setting size) region=$(setting region)
awk -v size="${size:-1000}" -v region="${region:-eu}" 'BEGIN {
	print "resources:"
	for (n = 0; n < size; n++) {
		print "  r" n ":\n    type: sim:Resource\n    properties:"
		print "      computed: [address]"
		print "      replaceOn: [region]"
		print "      properties:\n        number: " n
		if (n % 100 == 0) print "        region: " region
		if (n > 0) print "        upstream: ${r" int(n / 10) ".values.address}"
	}
	if (size > 0) print "outputs:\n  first: ${r0.values.address}"
}'
