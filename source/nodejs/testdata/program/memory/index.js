require("@pulumi/pulumi");

const all = [];
for (;;) {
    all.push(new Array(100000).fill(Math.random()));
}
