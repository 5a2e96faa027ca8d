import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createGroups, groupId, knowsGroup} from '../../../source/host/accounts/groups.js';

function groupFile(text: string): string {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-groups-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	const file = path.join(directory, 'group');
	writeFileSync(file, text);
	return file;
}

const file = () => groupFile('root:x:0:\nstaff:x:50:ada\nstaff-2:x:51:\nbroken\nodd:x:many:\n');

test('createGroups returns only the given groups to which the process belongs', () => {
	const among = createGroups({ownGids: () => [50, 0], groupFile: file(), ask: () => undefined});
	expect(among(['root', 'staff', 'staff-2', 'broken', 'odd', 'none', '-x', 'a:b', '../x'])).toEqual(['root', 'staff']);
});

test('a group that is missing in the group file is looked up only once a minute', () => {
	const asked: string[] = [];
	let nowMs = 0;
	const gids = new Map<string, number>();
	const among = createGroups({
		ownGids: () => [70],
		groupFile: file(),
		ask(name) {
			asked.push(name);
			return gids.get(name);
		},
		monotonicMs: () => nowMs,
	});
	expect(among(['ldap'])).toEqual([]);
	gids.set('ldap', 70);
	nowMs = 59_000;
	expect(among(['ldap'])).toEqual([]);
	nowMs = 61_000;
	expect(among(['ldap'])).toEqual(['ldap']);
	expect(among(['ldap'])).toEqual(['ldap']);
	expect(asked).toEqual(['ldap', 'ldap']);
});

test('knowsGroup and groupId accept no name that is an option or a path', async () => {
	const own = process.getegid!();
	expect(createGroups()(['root'])).toEqual(own === 0 || process.getgroups!().includes(0) ? ['root'] : []);
	expect(await knowsGroup('root')).toBe(true);
	expect(await groupId('root')).toBe(0);
	for (const name of ['nobody-here', '-root', '--help', 'a/b', 'root:x', '']) {
		expect(await knowsGroup(name)).toBe(false);
	}
});
