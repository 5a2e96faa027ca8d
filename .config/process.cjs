/*
Stands for `node:process` in the bundle. An import of that module reads every property of the process object, and so opens its three
streams before anybody asks for them: some milliseconds of each start.
*/
module.exports = globalThis.process;
