/** Finds a Chromium for the tests of the page, and tries to install one if there is none. */
import {accessSync, constants} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {installPackage} from './apt.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

const isProgram = (file: string): boolean => {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
};

/** Finds an installed Chromium without downloading anything. The variable `CHROMIUM` can name another one. */
export function findChromium(): string | undefined {
	const named = process.env['CHROMIUM'];
	if (named !== undefined && named !== '') {
		return named;
	}

	return [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin']
		.flatMap((directory) => names.map((name) => path.join(directory, name)))
		.find((file) => isProgram(file));
}

/** Installs Chromium if possible. Otherwise prints a message, because the tests that need it are skipped. */
export function ensureChromium(): void {
	if (findChromium() !== undefined) {
		return;
	}

	let reason = 'it was installed, and yet is not there';
	try {
		installPackage('chromium');
	} catch (error) {
		reason = (error as Error).message;
	}

	if (findChromium() === undefined) {
		process.stderr.write(
			`\nNO CHROMIUM: the tests of the page in a browser are LEFT OUT (${reason}).\nInstall it: apt-get install chromium, or name one: CHROMIUM=/path npm test\n\n`,
		);
	}
}
