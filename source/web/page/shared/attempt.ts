/** What is behind the address of a part that is imported late; the build puts it there. */
declare global {
	var importAttempt: string | undefined;
}

let failures = 0;

/** Makes the next import of any part ask for it again: browsers remember that a module could not be loaded, and go by its address. */
export function forgetFailedImports(): void {
	failures++;
	Object.assign(globalThis, {importAttempt: `?attempt=${failures}`});
}
