/** `canhazgpu` inside an isolated job of root works as it does outside. */
import {spawn} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {fences, type Fence} from '../../../../source/core/model/isolation.js';
import {controlGroupsOf} from '../../../../source/host/isolation/control-groups.js';
import {findBubblewrap} from '../../../_helpers/packages/find-bubblewrap.js';
import {canMakeDevices, makeNvidiaDevices, type StandIn} from '../../../_helpers/machine/stand-in-devices.js';
import {hasSystemd, startSystemd, type Systemd} from '../../../_helpers/machine/systemd.js';
import {starter, starterText} from '../../../_helpers/program/cli.js';
import {isLong} from '../../../_helpers/slow.js';

const isRoot = canMakeDevices();
const bwrap = findBubblewrap()!;
const hasGroups = isRoot && controlGroupsOf('self').some(({controllers}) => controllers.includes('devices'));
const there: ReadonlySet<Fence> = new Set(
	fences.filter((fence) => (fence === 'bwrap' ? isRoot : fence === 'systemd' ? hasSystemd() : hasGroups)),
);

let directory: string;
let box: StandIn;
let systemd: Systemd | undefined;

beforeAll(async () => {
	if (!isRoot) {
		return;
	}

	directory = mkdtempSync(path.join(tmpdir(), 'inside-'));
	box = makeNvidiaDevices([1, 2, 0], {}, {hasOwnNumbers: true});
	writeFileSync(path.join(directory, 'scenario.yaml'), `devices: ${box.root}\n`);
	writeFileSync(
		path.join(directory, 'canhazgpu'),
		`#!/bin/sh\nexec ${[starter, ...starterText].map((word) => `'${word}'`).join(' ')} "$@"\n`,
	);
	chmodSync(path.join(directory, 'canhazgpu'), 0o755);
	writeFileSync(path.join(directory, 'minors'), minors());
	systemd = there.has('systemd') ? await startSystemd([directory, box.root]) : undefined;
});

afterAll(async () => {
	await systemd?.stop();
	for (const made of isRoot ? [directory, box.root] : []) {
		rmSync(made, {recursive: true, force: true});
	}
});

/** Each isolation method has its own pool, because systemd changes the pids. */
function boxOf(fence: Fence) {
	const home = path.join(directory, fence);
	if (!existsSync(home)) {
		mkdirSync(home);
	}

	const environment = {
		CANHAZGPU_POOL_DIRECTORY: path.join(home, 'pool'),
		CANHAZGPU_SIMULATED_SCENARIO: path.join(directory, 'scenario.yaml'),
		CANHAZGPU_STORE: 'embedded',
		HOME: home,
		LC_ALL: 'C.UTF-8',
		PATH: [directory, path.dirname(process.execPath), path.dirname(bwrap), '/usr/bin', '/bin', '/usr/sbin'].join(':'),
	};
	const [program, ...words] = [...(fence === 'systemd' ? systemd!.entrance : []), 'env', '-i', '-C', home];
	const entries = Object.entries(environment).map((entry) => entry.join('='));
	return async (script: string) => {
		const child = spawn(program, [...words, ...entries, 'sh', '-c', script], {stdio: ['ignore', 'pipe', 'pipe']});
		const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
		return {stdout, stderr};
	};
}

/** Prints the minor numbers of the GPUs that can be opened. */
const minors = (): string =>
	`for n in ${box.root}/dev/nvidia[0-9]; do (: < "$n") 2>/dev/null && echo "\${n##*nvidia}"; done`;

describe.each(fences)('in a job that is isolated by %s', (fence) => {
	test.runIf(isLong && there.has(fence))(
		'reserve, extend, who, release and status work in the same way as outside the job',
		async () => {
			const sh = boxOf(fence);
			await sh('canhazgpu admin --gpus 3 --provider fake');
			const inside = [
				minors(),
				'canhazgpu reserve -G 1 --short',
				'canhazgpu extend -G 1 -d 1h | head -1',
				'canhazgpu who 2 | head -1',
				'canhazgpu release | tail -1',
				'canhazgpu reserve -G 1 --short -u other',
				`canhazgpu run -q --isolate=require -G 0 -- sh ${directory}/minors 2>&1 | head -1`,
				'canhazgpu status --json',
			].join('\n');
			const {stdout, stderr} = await sh(
				`canhazgpu run --json --isolate=${fence} -G 2 -- sh -c "$(cat <<'END'\n${inside}\nEND\n)"`,
			);
			expect(stderr).toMatch(/^\{.*\}\n$/v);
			expect(JSON.parse(stderr)).toMatchObject({gpu_ids: [2], isolated: true});
			const [own, reserved, extended, who, released, other, nested, ...more] = stdout.split('\n');
			expect([own, reserved, extended, released, other]).toEqual([
				'0',
				'1',
				'Extended 1 GPU(s): [1]',
				'Released 1 GPU(s): [1]',
				'1',
			]);
			expect(who).toMatch(/^GPU 2: /v);
			// With systemd, the inner job gets its own scope. The other methods open no GPU that was closed to the outer job.
			expect(nested).toMatch(
				fence === 'systemd' ? /^1$/v : /^Error: The command was not started, because it cannot be isolated: .*nvidia1/v,
			);
			expect(JSON.parse(more.join('\n'))).toMatchObject([
				{status: 'AVAILABLE'},
				{status: 'IN_USE', user: 'other', actual_user: 'root'},
				{status: 'IN_USE', actual_user: 'root', type: 'RUN'},
			]);
			const after = await sh('canhazgpu release -G 1; canhazgpu status --json');
			expect(after.stdout).not.toContain('IN_USE');
		},
	);
});
