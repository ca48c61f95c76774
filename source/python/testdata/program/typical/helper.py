GREETING = "from a module beside the program"
