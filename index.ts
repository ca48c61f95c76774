console.log("hello");
export const x = 1;
