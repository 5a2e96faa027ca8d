/** Binds a job to NUMA nodes: CPUs and memory with numactl(8), or only CPUs with taskset(1), because the kernel prefers the nearest memory anyway. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {BindToNodes, NumaProblem} from '../core/model/numa.js';
import {lookUpCommand} from './tool/command.js';
import {runTool} from './tool/spawn.js';

type Options = {
	/** The directory with /sys: the root directory, or a test directory. */
	readonly root: string;
	readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Returns the CPUs of a node as the kernel lists them: `0-27,56-83`. Undefined if the node has no CPUs or does not exist. */
function processorsOf(root: string, node: number): string | undefined {
	try {
		const list = readFileSync(path.join(root, `sys/devices/system/node/node${node}/cpulist`), 'latin1').trim();
		return /^\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*$/v.test(list) ? list : undefined;
	} catch {
		return undefined;
	}
}

/** Tests the binding command with a program that does nothing. A container can forbid binding or have only some of the CPUs. */
async function problemWith(entrance: readonly string[]): Promise<NumaProblem | undefined> {
	const [program, ...words] = entrance;
	const {failure, exitCode, detail, stderr} = await runTool(program!, [...words, '/bin/sh', '-c', ':'], {
		timeoutMs: 10_000,
	});
	return failure === undefined && exitCode === 0
		? undefined
		: {kind: 'refused', program: path.basename(program!), words: detail ?? stderr};
}

export const createBindToNodes =
	({root, environment}: Options): BindToNodes =>
	async (nodes) => {
		const processors = nodes.map((node) => processorsOf(root, node));
		const missing = processors.indexOf(undefined);
		if (missing !== -1) {
			return {kind: 'not-bound', problem: {kind: 'no-processors', node: nodes[missing]!}};
		}

		const list = nodes.join(',');
		const ways = [
			['numactl', `--cpunodebind=${list}`, `--membind=${list}`, '--'],
			['taskset', '--cpu-list', processors.join(',')],
		] as const;
		let problem: NumaProblem = {kind: 'no-program'};
		for (const [name, ...words] of ways) {
			const found = lookUpCommand(name, environment);
			if (found.kind !== 'found') {
				continue;
			}

			const entrance = [path.resolve(found.file), ...words];
			const refusal = await problemWith(entrance);
			if (refusal === undefined) {
				return {kind: 'bound', entrance};
			}

			problem = refusal;
		}

		return {kind: 'not-bound', problem};
	};
