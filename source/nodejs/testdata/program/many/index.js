const pulumi = require("@pulumi/pulumi");

for (let i = 0; i < 300; i++) {
    new pulumi.CustomResource("test:index:Thing", `thing-${i}`, { index: i, text: "x".repeat(100) });
}
