export const chosen: string = "index.ts";
