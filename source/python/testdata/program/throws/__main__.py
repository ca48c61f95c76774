import pulumi


def inner():
    raise ValueError("this program throws")


pulumi.export("x", 1)
inner()
