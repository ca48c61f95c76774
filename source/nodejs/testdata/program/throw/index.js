require("@pulumi/pulumi");

throw new Error("this program throws");
