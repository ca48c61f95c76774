import pulumi

x = (1 +
