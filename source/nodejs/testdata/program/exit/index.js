require("@pulumi/pulumi");

console.error("last words");
process.exit(7);
