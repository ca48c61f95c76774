"""Prints the packages of providers whose SDKs are installed, as a JSON list."""

import importlib.metadata
import json
import os


def manifest(distribution):
    """The content of the distribution's pulumi-plugin.json, None if it has none."""
    for file in distribution.files or ():
        if file.name == "pulumi-plugin.json" and len(file.parts) == 2:
            path = distribution.locate_file(file)
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as opened:
                    return json.load(opened)
    return None


found = []
for distribution in importlib.metadata.distributions():
    name = (distribution.metadata["Name"] or "").lower().replace("_", "-")
    plugin = manifest(distribution)
    if plugin is None:
        if not name.startswith("pulumi-") or name == "pulumi-policy":
            continue
        plugin = {"resource": True}
    found.append({"distribution": name, "installed": distribution.version, **plugin})
print(json.dumps(found))
