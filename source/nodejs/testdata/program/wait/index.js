require("@pulumi/pulumi");

require("child_process").spawn("sleep", ["600"]);
console.log("waiting");
setInterval(() => {}, 1000);
