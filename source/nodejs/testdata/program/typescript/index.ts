import * as pulumi from "@pulumi/pulumi";

const config = new pulumi.Config();

class Thing extends pulumi.CustomResource {
    public readonly value!: pulumi.Output<string>;
    constructor(name: string, args: { value: pulumi.Input<string> }, opts?: pulumi.CustomResourceOptions) {
        super("test:index:Thing", name, args, opts);
    }
}

class Group extends pulumi.ComponentResource {
    constructor(name: string) {
        super("test:index:Group", name);
        new Thing("child", { value: "inner" }, { parent: this });
        this.registerOutputs({ done: true });
    }
}

console.log("hello from the program");
console.error("and from its other stream");
const first: Thing = new Thing("first", { value: config.require("greeting") });
const second = new Thing("second", { value: first.value.apply((v) => v + "!") }, { protect: true });
new Thing("secret", { value: config.requireSecret("password") });
new Group("group");
pulumi.log.warn("mind the gap", first);

export const greeting = second.value;
export const where = `${pulumi.getProject()}/${pulumi.getStack()}/${pulumi.runtime.isDryRun()}`;
