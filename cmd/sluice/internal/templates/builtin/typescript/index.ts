import * as pulumi from "@pulumi/pulumi";
import * as random from "@pulumi/random";

const config = new pulumi.Config();
const greeting = config.get("greeting") ?? "Hello";

// Two words that are chosen once and then kept.
const pet = new random.RandomPet("pet", { length: 2 });

export const message = pulumi.interpolate`${greeting}, ${pet.id}!`;
