/** Reads the kernel's device numbers. Control groups refuse devices by number, whatever the name of a node. */
import {readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';

export type DeviceNumber = {readonly major: number; readonly minor: number};

export const numberKey = ({major, minor}: DeviceNumber): string => `${major}:${minor}`;

/** Splits a device number, in which the C library packs the major and the minor number. */
const decode = (device: bigint): DeviceNumber => ({
	// eslint-disable-next-line no-bitwise -- the bits of each are in two parts of the number
	major: Number(((device >> 8n) & 0xf_ffn) | ((device >> 32n) & 0xff_ff_f0_00n)),
	// eslint-disable-next-line no-bitwise
	minor: Number((device & 0xffn) | ((device >> 12n) & 0xff_ff_ff_00n)),
});

export const numberOf = (file: string): DeviceNumber => decode(statSync(file, {bigint: true}).rdev);

/** Returns the numbers of all character devices in the readable part of a directory tree. */
export const numbersIn = (directory: string): readonly DeviceNumber[] => {
	let entries;
	try {
		entries = readdirSync(directory, {withFileTypes: true});
	} catch {
		return [];
	}

	return entries.flatMap((entry) => {
		const file = path.join(directory, entry.name);
		if (entry.isDirectory()) {
			return numbersIn(file);
		}

		try {
			return entry.isCharacterDevice() ? [numberOf(file)] : [];
		} catch {
			return [];
		}
	});
};

export const loadedMajors = (file = '/proc/devices'): readonly number[] => {
	const [characters = ''] = readFileSync(file, 'utf8').split('Block devices:', 1);
	return [...new Set(characters.matchAll(/^ *(?<major>\d+) /gmv).map((match) => Number(match.groups!['major'])))];
};

/** The major numbers that the kernel assigns dynamically, in the order of assignment. */
const dynamicMajors: readonly number[] = [
	...Array.from({length: 254 - 234 + 1}, (_, index) => 254 - index),
	...Array.from({length: 511 - 384 + 1}, (_, index) => 511 - index),
];

/** Returns the major numbers for the next drivers to be loaded, such as NVIDIA's driver for unified memory, which is loaded on first use. */
export const nextMajors = (loaded: readonly number[], count: number): readonly number[] =>
	dynamicMajors.filter((major) => !loaded.includes(major)).slice(0, count);
