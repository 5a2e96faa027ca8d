/*
Stands for `node:util` in the bundle, for the same reason: to load that module takes more than a millisecond in the binary.
*/
const whole = () => globalThis.process.getBuiltinModule("node:util");

export const stripVTControlCharacters = (text) => whole().stripVTControlCharacters(text);
export const promisify = (wanted) => whole().promisify(wanted);
export const parseArgs = (config) => whole().parseArgs(config);
