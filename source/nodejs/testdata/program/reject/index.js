require("@pulumi/pulumi");

Promise.reject(new Error("nobody catches this"));
