"""Runs a program or a module when a debugger is attached: "debug.py ADDRESS FILE ..." or "debug.py ADDRESS -m MODULE ..."."""

import os
import runpy
import sys

import debugpy

host, _, port = sys.argv[1].partition(":")
host, port = debugpy.listen((host, int(port)))
print(f"debugpy listens on {host}:{port}", file=sys.stderr, flush=True)
debugpy.wait_for_client()

del sys.argv[:2]
if sys.argv[0] == "-m":
    del sys.argv[0]
    sys.path[0] = os.getcwd()
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    sys.path[0] = sys.argv[0] if os.path.isdir(sys.argv[0]) else os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
