import os

print("last words", flush=True)
os._exit(0)
