/** What is behind the address of a part that is imported late; the build puts it there. It is short, for each import has it. */
declare global {
	var again: string | undefined;
}

let failures = 0;

/** Makes the next import of any part ask for it again: browsers remember that a module could not be loaded, and go by its address. */
export function forgetFailedImports(): void {
	Object.assign(globalThis, {again: `?${failures++}`});
}
