import pulumi

from helper import later

for i in range(5):
    pulumi.export(f"x{i}", later())
