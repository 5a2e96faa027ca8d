/**
The time that isolation adds to the start of a job: `run --isolate -- true` and `run -- true` alternate on an embedded pool with stand-in devices for
three GPUs.
*/
import {spawnSync} from 'node:child_process';
import {rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {canMakeDevices, makeNvidiaDevices} from '../_helpers/machine/stand-in-devices.js';
import {findBubblewrap} from '../_helpers/packages/find-bubblewrap.js';
import {createBox, program} from '../_helpers/program/cli.js';
import {median, printFigure, reportTime} from './_helpers/measure.js';

const pairs = 40;

const bwrap = findBubblewrap();
if (canMakeDevices() && bwrap !== undefined) {
	const devices = makeNvidiaDevices([0, 1, 2]);
	const box = createBox();
	const scenario = path.join(box.home, 'scenario.yaml');
	writeFileSync(scenario, `devices: ${devices.root}\n`);
	const env = {
		...box.environment,
		PATH: `${path.dirname(bwrap)}:${box.environment['PATH']!}`,
		CANHAZGPU_SIMULATED_SCENARIO: scenario,
	};
	const run = (...words: readonly string[]): number => {
		const startedMs = performance.now();
		const {status, stderr} = spawnSync(process.execPath, [program, ...words], {cwd: box.home, env, encoding: 'utf8'});
		if (status !== 0) {
			throw new Error(`canhazgpu ${words.join(' ')} failed: ${stderr}`);
		}

		return performance.now() - startedMs;
	};

	const plain = (): number => run('run', '-q', '--', 'true');
	const isolated = (): number => run('run', '-q', '--isolate=require', '--', 'true');
	run('admin', '-g', '3', '--provider', 'fake', '--store', 'embedded');
	plain();
	isolated();
	const both = Array.from({length: pairs}, (_, pair) => {
		// Each goes first equally often.
		const first = pair % 2 === 0 ? plain() : isolated();
		const second = pair % 2 === 0 ? isolated() : plain();
		return pair % 2 === 0 ? {plain: first, isolated: second} : {plain: second, isolated: first};
	});
	const least = (kind: 'plain' | 'isolated'): number => Math.min(...both.map((pair) => pair[kind]));
	const added = median(both.map((pair) => pair.isolated - pair.plain));
	printFigure('run -- true, at the least', least('plain'), 'ms');
	printFigure('run --isolate adds, the median of pairs', added, 'ms');
	// Compares the minimum of each, because other load can only add time.
	reportTime('run --isolate adds at the least', least('isolated') - least('plain'), 0.5);
	box.remove();
	rmSync(devices.root, {recursive: true});
}
