/** Finds bubblewrap for the tests of isolation, and gets it where it is missing. */
import {accessSync, constants} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {installPackage, unpackPackage} from './apt.js';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/bubblewrap', import.meta.url));

/** Looks, and fetches nothing. */
export const findBubblewrap = (): string | undefined =>
	[...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', `${cache}/usr/bin`]
		.map((directory) => path.join(directory, 'bwrap'))
		.find((file) => {
			try {
				accessSync(file, constants.X_OK);
				return true;
			} catch {
				return false;
			}
		});

/**
Makes sure that there is one.

@throws When it cannot be had: the tests that need it must fail, not be left out.
*/
export function ensureBubblewrap(): void {
	const causes: unknown[] = [];
	for (const get of [
		() => undefined,
		() => {
			installPackage('bubblewrap');
		},
		() => {
			// The libraries that it needs are on every Debian.
			unpackPackage('bubblewrap', cache, /^bubblewrap$/v);
		},
	]) {
		try {
			get();
		} catch (error) {
			causes.push(error);
		}

		if (findBubblewrap() !== undefined) {
			return;
		}
	}

	const reasons = causes.map((cause) => (cause instanceof Error ? cause.message : String(cause)));
	throw new AggregateError(
		causes,
		`The tests need bubblewrap, which could not be fetched (${reasons.join('; ')}).\nInstall it: apt-get install bubblewrap`,
	);
}
