/*
Stands for `node:process` in the bundle. An import of that module reads every property of the process object, and so opens its three
streams before anybody asks for them: some milliseconds of each start. Beside the object it exports what bundled packages ask of that module
by name (ink: cwd and env; yaml: env and emitWarning).
*/
export default globalThis.process;
export const { cwd, emitWarning, env } = globalThis.process;
