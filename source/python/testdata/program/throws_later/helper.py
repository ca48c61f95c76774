import pulumi


def later():
    return pulumi.Output.from_input({}).apply(lambda table: missing(table))


def missing(table):
    return table["this program throws later"]
