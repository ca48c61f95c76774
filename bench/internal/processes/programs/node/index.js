// Declares independent resources with Pulumi's Node.js SDK, as bench/program does in Go.
"use strict";
const pulumi = require("@pulumi/pulumi");

const size = Number(process.env.BENCH_SIZE);

class Thing extends pulumi.CustomResource {
    constructor(name, inputs) {
        super("simple:index:Thing", name, { arn: undefined, ...inputs });
    }
}

for (let i = 0; i < size; i++) {
    new Thing(`thing-${String(i).padStart(5, "0")}`, { index: i, label: "benchmark", enabled: true });
}
