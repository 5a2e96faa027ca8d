import path from 'node:path';
import process from 'node:process';
import {expect, test, vi} from 'vitest';
import {type runTool, runTool as run, type ToolOutcome} from '../../../source/host/tool/spawn.js';
import {createUsers, findInPasswd} from '../../../source/host/accounts/users.js';
import {createFiles} from '../temporary.js';

const passwd = [
	'root:x:0:0:root:/root:/bin/bash',
	'+nis:x:1000::::',
	'ada:x:1000:1000:Ada,,,:/home/ada:/bin/bash',
	'ada2:x:1000:1000::/:/bin/sh',
	':x:1001:1::/:/bin/sh',
	'short',
].join('\n');

const setUp = async (answer: Partial<ToolOutcome> | ((command: string) => Partial<ToolOutcome>)) => {
	const directory = await createFiles({passwd});
	const ask = vi.fn<typeof runTool>(async (command) => ({
		stdout: '',
		stderr: '',
		...(typeof answer === 'function' ? answer(command) : answer),
	}));
	let now = 0;
	return {
		ask,
		wait(milliseconds: number) {
			now += milliseconds;
		},
		users: createUsers({run: ask, passwdFile: path.join(directory, 'passwd'), monotonicMs: () => now}),
	};
};

test('findInPasswd returns the name of the first account with the uid', () => {
	expect(findInPasswd(passwd, 0)).toBe('root');
	expect(findInPasswd(passwd, 1000)).toBe('ada');
	expect(findInPasswd(passwd, 1001)).toBeUndefined();
	expect(findInPasswd(passwd, 10)).toBeUndefined();
});

test('nameOf finds a local account without starting a program', async () => {
	const {users, ask} = await setUp({});
	expect(await users.nameOf(1000)).toBe('ada');
	expect(users.nameOfSync(0)).toBe('root');
	expect(ask).not.toHaveBeenCalled();
});

test('nameOf runs getent only once for a network account', async () => {
	const {users, ask} = await setUp({stdout: 'grace:*:5000:5000:Grace:/home/grace:/bin/zsh\n', exitCode: 0});
	expect(await Promise.all([users.nameOf(5000), users.nameOf(5000)])).toEqual(['grace', 'grace']);
	expect(await users.nameOf(5000)).toBe('grace');
	expect(users.nameOfSync(5000)).toBe('grace');
	expect(ask.mock.calls.map(([command, args]) => [command, ...args])).toEqual([['getent', 'passwd', '5000']]);
});

test('nameOf returns the digits of an unknown uid, and looks up the uid again after a minute', async () => {
	const {users, ask, wait} = await setUp({exitCode: 2});
	expect(await users.nameOf(5000)).toBe('5000');
	wait(59_000);
	expect(await users.nameOf(5000)).toBe('5000');
	expect(ask).toHaveBeenCalledTimes(1);
	wait(2000);
	expect(await users.nameOf(5000)).toBe('5000');
	expect(ask).toHaveBeenCalledTimes(2);
});

test('nameOf ignores a getent line for another uid', async () => {
	const {users} = await setUp({stdout: 'grace:*:5001:5000::/:/bin/sh\n', exitCode: 0});
	expect(await users.nameOf(5000)).toBe('5000');
});

test('nameOf runs `id` if getent is missing', async () => {
	const {users} = await setUp((command) =>
		command === 'id' ? {stdout: 'grace\n', exitCode: 0} : {failure: 'not-found'},
	);
	expect(await users.nameOf(5000)).toBe('grace');
});

test.each(['5000\n', 'no such user\n', ''])('nameOf does not accept the `id` output %j as a name', async (stdout) => {
	const {users} = await setUp((command) => (command === 'id' ? {stdout} : {failure: 'not-found'}));
	expect(await users.nameOf(5000)).toBe('5000');
});

test('nameOf and nameOfSync return the name that `id -un` prints, whatever USER contains', async () => {
	const uid = process.getuid?.() ?? 0;
	const {stdout} = await run('id', ['-un'], {timeoutMs: 60_000});
	const name = stdout.trim();
	vi.stubEnv('USER', 'mallory');
	vi.stubEnv('LOGNAME', 'mallory');
	for (const passwdFile of ['/etc/passwd', '/no/such/file']) {
		expect(createUsers({passwdFile}).nameOfSync(uid)).toBe(name);
		expect(await createUsers({passwdFile}).nameOf(uid)).toBe(name);
	}

	vi.unstubAllEnvs();
	expect(createUsers().nameOfSync(3_999_999_999)).toBe('3999999999');
});

test('knows() finds local and network accounts and looks up no invalid names', async () => {
	const {users, ask} = await setUp({stdout: 'grace:*:5000:5000:Grace:/home/grace:/bin/zsh\n', exitCode: 0});
	expect(await users.knows('ada')).toBe(true);
	expect(await users.knows('5000')).toBe(true);
	for (const name of ['', '-t', '+nis', 'ada\n', 'a:b', '../ada', '\u{1B}[31mada']) {
		expect([name, await users.knows(name)]).toEqual([name, false]);
	}

	expect(ask).not.toHaveBeenCalled();
	expect(await users.knows('grace')).toBe(true);
	expect(await users.knows('grac')).toBe(false);
	expect(ask.mock.calls.map(([command, args]) => [command, ...args])).toEqual([
		['getent', 'passwd', 'grace'],
		['getent', 'passwd', 'grac'],
	]);
});

test('knows() accepts only names that getent or `id` confirms', async () => {
	const unknown = await setUp({exitCode: 2});
	expect(await unknown.users.knows('mallory')).toBe(false);
	const away = await setUp({failure: 'timed-out'});
	expect(await away.users.knows('mallory')).toBe(false);
	const withoutGetent = await setUp((command) =>
		command === 'getent' ? {failure: 'not-found'} : {stdout: '5000\n', exitCode: 0},
	);
	expect(await withoutGetent.users.knows('grace')).toBe(true);
});
