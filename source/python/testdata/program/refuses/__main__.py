import pulumi

raise pulumi.RunError("this program refuses")
