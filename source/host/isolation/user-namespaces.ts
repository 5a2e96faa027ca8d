/** Why the kernel gives an ordinary account no user namespace of its own: the settings of Linux, Debian and Ubuntu that forbid it. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import type {NamespaceSetting} from '../../core/model/isolation.js';

const settings: ReadonlyArray<{
	readonly name: string;
	readonly forbids: (value: number) => boolean;
	readonly wanted: string;
}> = [
	{name: 'user.max_user_namespaces', forbids: (value) => value === 0, wanted: '15000'},
	{name: 'user.max_mnt_namespaces', forbids: (value) => value === 0, wanted: '15000'},
	{name: 'kernel.unprivileged_userns_clone', forbids: (value) => value === 0, wanted: '1'},
	{name: 'kernel.apparmor_restrict_unprivileged_userns', forbids: (value) => value !== 0, wanted: '0'},
];

/** Those that forbid it on this machine. Empty where none does, or where they cannot be read. */
export const forbiddingSettings = (directory = '/proc/sys'): readonly NamespaceSetting[] =>
	settings.flatMap(({name, forbids, wanted}) => {
		try {
			const value = readFileSync(path.join(directory, name.replaceAll('.', '/')), 'utf8').trim();
			return /^\d+$/v.test(value) && forbids(Number(value)) ? [{name, value, wanted}] : [];
		} catch {
			return [];
		}
	});
