console.log("the program of the package");
