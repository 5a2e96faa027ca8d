/*
Stands for `node:child_process` in the bundle. To load that module takes more than a millisecond in the binary, and many a verb starts nothing.
*/
const whole = () => globalThis.process.getBuiltinModule("node:child_process");

export const spawn = (...words) => whole().spawn(...words);
export const spawnSync = (...words) => whole().spawnSync(...words);
