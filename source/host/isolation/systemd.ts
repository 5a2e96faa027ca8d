/**
Isolates with systemd, for root: a scope in which the devices of foreign GPUs cannot be opened. Systemd can only list allowed devices, so
the list contains all devices of each driver without foreign devices, and the single allowed devices of the other drivers. The scope ends with its
last process, even if `run` was killed. An account's own service manager cannot restrict devices, and is never used.
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

/** Device numbers of /dev/nvidia-modeset and /dev/nvidiactl, which NVIDIA's driver creates only on demand. */
const latecomers: readonly DeviceNumber[] = [254, 255].map((minor) => ({major: 195, minor}));

/** How many drivers to allow in advance, in case they are loaded while the job runs. */
const loadedLater = 8;

/** Returns the patterns for systemd's `DeviceAllow`, which allow all devices except the foreign ones. */
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

/** The directory that exists only if systemd runs the machine. */
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
		// Allows this program to move processes into the scope later.
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
