/**
A fence made by systemd, for root: a scope in which the devices of foreign GPUs do not open. Systemd knows lists of what may open and none of what may not,
so all else is on the list: drivers whole where no device of theirs is foreign, and the other devices of the rest one by one.

The scope ends by itself with the last process in it, whatever became of `run`. The manager of an account cannot do this, and is never asked.
*/
import {randomUUID} from 'node:crypto';
import {existsSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {messageOf} from '../../errors.js';
import {controlGroupsOf, joiningWords} from './control-groups.js';
import {loadedMajors, nextMajors, numberKey, numberOf, numbersIn, type DeviceNumber} from './device-numbers.js';
import {findProgram, type MakeFence} from './fence.js';
import {startWitness} from './witness.js';

/** NVIDIA's driver makes these nodes as they are wanted: for the setting of modes, and for all GPUs. */
const latecomers: readonly DeviceNumber[] = [254, 255].map((minor) => ({major: 195, minor}));

/** How many drivers may be loaded while a job runs. */
const loadedLater = 8;

/** Returns the patterns for `DeviceAllow`. */
const allowedPatterns = (
	foreign: readonly DeviceNumber[],
	{loaded, present}: {readonly loaded: readonly number[]; readonly present: readonly DeviceNumber[]},
): readonly string[] => {
	const parted = new Set(foreign.map(({major}) => major));
	const refused = new Set(foreign.map((number) => numberKey(number)));
	const single = [...present, ...latecomers]
		.filter((number) => parted.has(number.major) && !refused.has(numberKey(number)))
		.map((number) => `/dev/char/${numberKey(number)}`);
	const whole = [...loaded, ...nextMajors(loaded, loadedLater)].filter((major) => !parted.has(major));
	return ['block-*', ...whole.map((major) => `char-${major}`), ...new Set(single)];
};

/** This directory exists if systemd runs the machine. */
const systemdDirectory = '/run/systemd/system';

export const fenceBySystemd: MakeFence = async ({devices, foreign, proof, environment}) => {
	const program = findProgram('systemd-run', environment);
	if (typeof program === 'object') {
		return program;
	}

	if (!existsSync(systemdDirectory)) {
		return {kind: 'no-systemd'};
	}

	const unit = `canhazgpu-${process.pid}-${randomUUID()}.scope`;
	const refuse = (error: unknown) =>
		({
			kind: 'refused',
			program: 'systemd-run',
			words: messageOf(error),
		}) as const;
	let patterns: readonly string[];
	try {
		patterns = allowedPatterns(
			foreign.map(({file}) => numberOf(file)),
			{loaded: loadedMajors(), present: [...new Set(['/dev', devices])].flatMap((directory) => numbersIn(directory))},
		);
	} catch (error) {
		return refuse(error);
	}

	const properties = [
		// Which processes are in the scope is ours to say: they join it later.
		'Delegate=yes',
		'DevicePolicy=strict',
		...patterns.map((pattern) => `DeviceAllow=${pattern} rwm`),
	];
	const witness = await startWitness({
		words: [
			program,
			'--system',
			'--scope',
			'--quiet',
			'--collect',
			`--unit=${unit}`,
			'--description=A job of canhazgpu that is isolated from the GPUs of others',
			...properties.flatMap((property) => ['--property', property]),
			'--',
		],
		program: 'systemd-run',
		proof,
	});
	if (witness.kind !== 'witness') {
		return witness;
	}

	try {
		const groups = controlGroupsOf(witness.pid)
			.map(({directory}) => directory)
			.filter((directory) => path.basename(directory) === unit);
		if (groups.length > 0) {
			return {kind: 'fenced', entrance: joiningWords(groups, environment), close: witness.end};
		}
	} catch (error) {
		await witness.end();
		return refuse(error);
	}

	await witness.end();
	return refuse('its scope is not in /sys/fs/cgroup');
};
