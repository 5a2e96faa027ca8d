/** How this program starts itself. */
import process from 'node:process';

/** Where a binary made by Bun keeps the program that is in it. */
const insideBinary = '/$bunfs/';

/** In little memory: for what keeps nothing. */
export function selfCommand(...words: readonly string[]): {readonly command: string; readonly args: readonly string[]} {
	const {execPath, argv, versions} = process;
	const file = argv[1] ?? '';
	const flags = versions['bun'] === undefined ? ['--max-semi-space-size=1', '--max-old-space-size=64'] : [];
	return {command: execPath, args: file.startsWith(insideBinary) ? words : [...flags, file, ...words]};
}
