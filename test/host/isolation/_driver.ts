/**
Isolates one command after another, under the account that runs this program. Each line of stdin is a request, and each line of stdout is its
answer.
*/
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import {createInterface} from 'node:readline';
import {text} from 'node:stream/consumers';
import type {Fence, GrantedGpu} from '../../../source/core/model/isolation.js';
import {checkIsolation, createIsolate} from '../../../source/host/isolation/isolate.js';

export type DriverRequest = {
	readonly root?: string;
	readonly granted: readonly GrantedGpu[];
	/** The command. Without one, the driver only checks whether this machine can isolate. */
	readonly command?: readonly string[];
	readonly path?: string;
	/** The requested isolation method. */
	readonly fence?: Fence;
	readonly environment?: Readonly<Record<string, string>>;
};

export type DriverAnswer = {
	readonly problem?: unknown;
	/** The isolation method that was used, or would be used. */
	readonly fence?: Fence;
	readonly entrance?: number;
	readonly output?: string;
	/** The exit code, or the signal that ended the command. */
	readonly end?: number | string;
};

const answer = async ({
	root,
	granted,
	command,
	path = process.env['PATH'],
	fence,
	environment: more,
}: DriverRequest): Promise<DriverAnswer> => {
	const environment = {PATH: path, ...more};
	if (command === undefined) {
		const check = await checkIsolation(environment);
		return check.kind === 'possible' ? {fence: check.fence} : {problem: check.problem};
	}

	const isolation = await createIsolate({root, environment})(granted, fence);
	if (isolation.kind === 'not-isolated') {
		return {problem: isolation.problem};
	}

	const [program = 'true', ...words] = [...isolation.entrance, ...command];
	const child = spawn(program, words, {
		stdio: ['ignore', 'pipe', 'inherit'],
		...(more !== undefined && {env: environment}),
	});
	const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
	await isolation.close();
	return {
		fence: isolation.fence,
		entrance: isolation.entrance.length,
		output,
		end: child.signalCode ?? child.exitCode ?? undefined,
	};
};

for await (const line of createInterface(process.stdin)) {
	process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line) as DriverRequest))}\n`);
}
