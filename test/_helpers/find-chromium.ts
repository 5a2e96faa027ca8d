/**
Finds a Chromium for the tests of the page, and gets one where that takes no more than a package.
*/
import {execFileSync} from 'node:child_process';
import {accessSync, constants, existsSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const installMs = 240_000;

const isProgram = (file: string): boolean => {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
};

/** Looks, and fetches nothing. `CHROMIUM` names one that is elsewhere. */
export function findChromium(): string | undefined {
	const named = process.env['CHROMIUM'];
	if (named !== undefined && named !== '') {
		return named;
	}

	return [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin']
		.flatMap((directory) => names.map((name) => path.join(directory, name)))
		.find((file) => isProgram(file));
}

const apt = (...parameters: readonly string[]): void => {
	execFileSync('apt-get', parameters, {
		stdio: ['ignore', 'ignore', 'pipe'],
		timeout: installMs,
		env: {...process.env, DEBIAN_FRONTEND: 'noninteractive'},
	});
};

/** Installs one where that may be done. What is said when there is none is said loudly: its tests are then left out. */
export function ensureChromium(): void {
	if (findChromium() !== undefined) {
		return;
	}

	const install = ['install', '-y', '--no-install-recommends', 'chromium'];
	let reason = 'only root may install it';
	if (process.getuid?.() === 0 && !existsSync('/run/systemd/system')) {
		try {
			apt('update');
			apt(...install);
		} catch (error) {
			reason = error instanceof Error ? error.message.split('\n', 1)[0]! : String(error);
		}
	}

	if (findChromium() === undefined) {
		process.stderr.write(
			`\nNO CHROMIUM: the tests of the page in a browser are LEFT OUT (${reason}).\nInstall it: apt-get install chromium, or name one: CHROMIUM=/path npm test\n\n`,
		);
	}
}
