import sys

print("last words")
sys.exit(7)
