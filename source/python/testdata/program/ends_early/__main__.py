import sys

print("enough")
sys.exit(0)
