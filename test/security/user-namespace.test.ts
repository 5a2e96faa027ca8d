import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {readUserNamespace} from '../../source/security/user-namespace.js';
import {createFiles} from '../host/temporary.js';

type Proc = {
	readonly map?: string;
	/** The target of the namespace link. */
	readonly link?: string;
	/** Whether the directory of links exists. */
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
	['the machine’s own namespace', {map: whole, link: initial}, undefined],
	['one that root gave every uid', {map: whole, link: 'user:[4026532590]'}, undefined],
	['uid 0 for oneself', {map: '         0      61002          1\n', link: 'user:[4026532590]'}, '61002/4026532590'],
	['nobody mapped yet', {map: '', link: 'user:[4026532590]'}, '?/4026532590'],
	['a rootless container', {map: '0 61002 1\n1 100000 65536\n', link: 'user:[4026532590]'}, '61002/4026532590'],
	['all uids, shifted', {map: '0 1 4294967294\n', link: 'user:[4026532590]'}, '1/4026532590'],
	['a map in two lines that looks whole', {map: `${whole}1 5 1\n`, link: 'user:[4026532590]'}, '0/4026532590'],
	['a map that cannot be read, in the machine’s own', {link: initial}, undefined],
	['a map that cannot be read, in another', {link: 'user:[4026532590]'}, '?/4026532590'],
	['a kernel without user namespaces', {}, undefined],
	['a /proc that tells nothing', {hasLinks: false}, '?/?'],
	['a forged map without a link', {map: '0 61002 1\n'}, '61002/?'],
])('%s', async (_what, proc, expected) => {
	expect(readUserNamespace({procDirectory: await procOf(proc), platform: 'linux', uid: 0})).toBe(expected);
});

test('a missing /proc gives an unknown account and namespace', () => {
	expect(readUserNamespace({procDirectory: '/no/such/directory', platform: 'linux', uid: 0})).toBe('?/?');
});

test('a system without user namespaces has none', () => {
	expect(readUserNamespace({procDirectory: '/no/such/directory', platform: 'darwin', uid: 0})).toBeUndefined();
});

test.each([
	[0, '61002/4026532590'],
	[5, '100004/4026532590'],
	[70_000, '?/4026532590'],
])('uid %d is identified by its uid outside of the namespace', async (uid, expected) => {
	const proc = await procOf({map: '0 61002 1\n1 100000 65536\n', link: 'user:[4026532590]'});
	expect(readUserNamespace({procDirectory: proc, platform: 'linux', uid})).toBe(expected);
});
