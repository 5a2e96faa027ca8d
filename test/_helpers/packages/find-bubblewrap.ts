/** Finds bubblewrap for the isolation tests, and installs it if it is missing. */
import {accessSync, constants} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {ensureProgram, installPackage, unpackPackage} from './apt.js';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/bubblewrap', import.meta.url));

/** Finds an installed or unpacked bubblewrap without downloading anything. */
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

/** Installs bubblewrap if it is missing. */
export const ensureBubblewrap = (): string =>
	ensureProgram({name: 'bubblewrap', install: 'apt-get install bubblewrap'}, findBubblewrap, [
		() => {
			installPackage('bubblewrap');
		},
		() => {
			// Every Debian system has the libraries of bubblewrap.
			unpackPackage('bubblewrap', cache, /^bubblewrap$/v);
		},
	]);
