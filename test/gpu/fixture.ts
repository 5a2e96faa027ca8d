import {readFileSync} from 'node:fs';

/** Reads a file in test/fixtures/nvidia. */
export const fixture = (name: string): string =>
	readFileSync(new URL(`../fixtures/nvidia/${name}`, import.meta.url), 'utf8');
