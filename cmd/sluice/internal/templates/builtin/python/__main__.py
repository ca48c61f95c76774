import pulumi
import pulumi_random as random

config = pulumi.Config()
greeting = config.get("greeting") or "Hello"

# Two words that are chosen once and then kept.
pet = random.RandomPet("pet", length=2)

pulumi.export("message", pulumi.Output.concat(greeting, ", ", pet.id, "!"))
