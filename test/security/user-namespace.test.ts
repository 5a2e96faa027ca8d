import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {readUserNamespace} from '../../source/security/user-namespace.js';
import {createFiles} from '../host/temporary.js';

type Proc = {
	readonly map?: string;
	/** The target of the link /proc/self/ns/user. */
	readonly link?: string;
	/** Whether the directory /proc/self/ns exists. */
	readonly hasLinks?: boolean;
};

const whole = '         0          0 4294967295\n';
const initial = 'user:[4026531837]';

/** Creates a /proc with these files. */
async function procOf({map, link, hasLinks = true}: Proc): Promise<string> {
	const directory = await createFiles({});
	const links = path.join(directory, 'self', 'ns');
	mkdirSync(path.dirname(links));
	if (hasLinks) {
		mkdirSync(links);
		symlinkSync('pid:[4026531836]', path.join(links, 'pid'));
	}

	if (link !== undefined) {
		symlinkSync(link, path.join(links, 'user'));
	}

	if (map !== undefined) {
		writeFileSync(path.join(directory, 'self', 'uid_map'), map);
	}

	return directory;
}

test.each<[string, Proc, string | undefined]>([
	['the namespace of the machine as none', {map: whole, link: initial}, undefined],
	['a namespace that maps every uid to itself as none', {map: whole, link: 'user:[4026532590]'}, undefined],
	[
		'uid 0 in a namespace of one account',
		{map: '         0      61002          1\n', link: 'user:[4026532590]'},
		'61002/4026532590',
	],
	['a namespace without a map as an unknown uid', {map: '', link: 'user:[4026532590]'}, '?/4026532590'],
	['a rootless container', {map: '0 61002 1\n1 100000 65536\n', link: 'user:[4026532590]'}, '61002/4026532590'],
	['a namespace with all uids shifted', {map: '0 1 4294967294\n', link: 'user:[4026532590]'}, '1/4026532590'],
	[
		'a map of two lines that begins like a complete map',
		{map: `${whole}1 5 1\n`, link: 'user:[4026532590]'},
		'0/4026532590',
	],
	['the namespace of the machine without a readable map as none', {link: initial}, undefined],
	['another namespace without a readable map as an unknown uid', {link: 'user:[4026532590]'}, '?/4026532590'],
	['a kernel without user namespaces as none', {}, undefined],
	['an empty /proc as unknown', {hasLinks: false}, '?/?'],
	['a map without a namespace link as an unknown namespace', {map: '0 61002 1\n'}, '61002/?'],
])('readUserNamespace identifies %s', async (_what, proc, expected) => {
	expect(readUserNamespace({procDirectory: await procOf(proc), platform: 'linux', uid: 0})).toBe(expected);
});

test('readUserNamespace returns an unknown account and namespace if /proc is missing', () => {
	expect(readUserNamespace({procDirectory: '/no/such/directory', platform: 'linux', uid: 0})).toBe('?/?');
});

test('readUserNamespace returns undefined on a system without user namespaces', () => {
	expect(readUserNamespace({procDirectory: '/no/such/directory', platform: 'darwin', uid: 0})).toBeUndefined();
});

test.each([
	[0, '61002/4026532590'],
	[5, '100004/4026532590'],
	[70_000, '?/4026532590'],
])('readUserNamespace maps uid %d inside the namespace to %s', async (uid, expected) => {
	const proc = await procOf({map: '0 61002 1\n1 100000 65536\n', link: 'user:[4026532590]'});
	expect(readUserNamespace({procDirectory: proc, platform: 'linux', uid})).toBe(expected);
});
