/** Installs the terminal multiplexers in which the monitor is tested. */
import {spawnSync} from 'node:child_process';
import {ensureProgram, installPackage} from './apt.js';

const versionFlags = {tmux: '-V', screen: '--version'} as const;

export const ensureMultiplexer = (name: keyof typeof versionFlags): string =>
	ensureProgram(
		{name, install: `apt-get install ${name}`},
		() => (spawnSync(name, [versionFlags[name]]).status === 0 ? name : undefined),
		[
			() => {
				installPackage(name);
			},
		],
	);
