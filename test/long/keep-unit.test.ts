/** The systemd unit of `keep` as it is installed, in a systemd of the tests that hides the machine's pool. */
import {execFileSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {expect, onTestFinished, test} from 'vitest';
import {eventually} from '../_helpers/eventually.js';
import {hasSystemd, startSystemd} from '../_helpers/machine/systemd.js';
import {program} from '../_helpers/program/cli.js';

const unit = readFileSync(
	fileURLToPath(new URL('../../source/installer/canhazgpu-keep.service', import.meta.url)),
	'utf8',
);
const prefix = '/run/prefix';
const home = '/var/lib/canhazgpu-keep';

/** A systemd on the machine itself would run the unit on the machine's pool. */
const canRun = hasSystemd() && !existsSync('/run/systemd/system');

/**
Starts systemd with the unit. The program is mounted in /run, because the unit hides /tmp, where the checkout can be.
@param preparation - Shell commands that create the pool. In them, `chg` runs the program with the settings of the service.
*/
async function startKeep(preparation: string): Promise<{readonly run: (...words: readonly string[]) => string}> {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-unit-'));
	mkdirSync(path.join(directory, 'bin'));
	const wrapper = path.join(directory, 'bin/canhazgpu');
	writeFileSync(wrapper, '#!/bin/sh\nexec /run/node /run/dist/cli.js "$@"\n');
	chmodSync(wrapper, 0o755);
	const systemd = await startSystemd([directory], {
		units: {
			'canhazgpu-keep.service': unit
				.replace('@PREFIX@', () => prefix)
				// The targets of a distribution would start the whole system.
				.replace('[Unit]\n', '[Unit]\nDefaultDependencies=no\n'),
		},
		preparation: `
mkdir ${prefix} /run/dist
touch /run/node
mount --bind '${directory}' ${prefix}
mount --bind '${path.dirname(program)}' /run/dist
mount --bind '${process.execPath}' /run/node
for place in /var/lib /var/spool /var/mail; do mount -t tmpfs -o mode=755 tmpfs "$place"; done
mkdir ${home}
chg() { HOME=${home} ${prefix}/bin/canhazgpu "$@" >&2; }
${preparation}
`,
	});
	onTestFinished(async () => {
		await systemd.stop();
		rmSync(directory, {recursive: true});
	});
	return {
		run: (...words) =>
			execFileSync(systemd.entrance[0]!, [...systemd.entrance.slice(1), ...words], {encoding: 'utf8', stdio: 'pipe'}),
	};
}

test.skipIf(!canRun)(
	'the unit of keep works with a pool in any directory, and lets setgid programs write to the directories for mail',
	async () => {
		const {run} = await startKeep(String.raw`
cp /usr/bin/touch ${home}/touch
chgrp mail ${home}/touch
chmod 2755 ${home}/touch
printf '#!/bin/sh\nexec ${home}/touch /var/spool/sent /var/mail/sent\n' > ${home}/tell
chmod 755 ${home}/tell
printf '%s\n' 'notify: {to: ["exec:${home}/tell"], terminals: false}' 'pool: {directory: /var/lib/elsewhere}' > ${home}/.canhazgpu.yaml
chmod 600 ${home}/.canhazgpu.yaml
chg admin --store embedded --provider fake --gpus 1
chg reserve --gpus 1 --duration 10m1s`);
		await eventually(() => {
			expect(run('stat', '--format=%G', '/var/spool/sent', '/var/mail/sent')).toBe('mail\nmail\n');
			return true;
		});
		expect(run('systemctl', 'show', '--value', '--property=NRestarts', 'canhazgpu-keep')).toBe('0\n');
	},
);
