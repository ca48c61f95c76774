from typing import TypedDict

import pulumi
import pulumi_random as random
from pulumi.provider.experimental import component_provider_host


class GreetingArgs(TypedDict):
    who: pulumi.Input[str]


class Greeting(pulumi.ComponentResource):
    """A greeting from somebody with a random name. Programs create it by the type ${PROJECT}:index:Greeting."""

    message: pulumi.Output[str]

    def __init__(self, name: str, args: GreetingArgs, opts: pulumi.ResourceOptions | None = None):
        super().__init__("${PROJECT}:index:Greeting", name, {}, opts)
        pet = random.RandomPet(f"{name}-name", opts=pulumi.ResourceOptions(parent=self))
        self.message = pulumi.Output.concat("Hello ", args["who"], ", from ", pet.id)
        self.register_outputs({"message": self.message})


component_provider_host(name="${PROJECT}", components=[Greeting])
