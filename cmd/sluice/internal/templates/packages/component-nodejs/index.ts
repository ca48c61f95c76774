import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

export interface GreetingArgs {
    who: pulumi.Input<string>;
}

/** A greeting from somebody with a random name. Programs create it by the type ${PROJECT}:index:Greeting. */
export class Greeting extends pulumi.ComponentResource {
    public readonly message: pulumi.Output<string>;

    constructor(name: string, args: GreetingArgs, opts?: pulumi.ComponentResourceOptions) {
        super("${PROJECT}:index:Greeting", name, args, opts);
        const pet = new random.RandomPet(`${name}-name`, {}, { parent: this });
        this.message = pulumi.interpolate`Hello ${args.who}, from ${pet.id}`;
        this.registerOutputs({ message: this.message });
    }
}
