import {spawnSync, type SpawnSyncOptionsWithStringEncoding} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {performance} from 'node:perf_hooks';
import process from 'node:process';
import type {runTool} from '../tool/spawn.js';
import {runSystemTool, systemEnvironment, systemTool} from '../tool/system-tool.js';

export type Users = {
	/** Returns the account of a uid. Can ask the network's user database, which takes up to 2 s, once per uid. */
	readonly nameOf: (uid: number) => Promise<string>;
	/** Like `nameOf`, but blocking. Only for the account of this process, which is needed before all others. */
	readonly nameOfSync: (uid: number) => string;
	/** Whether an account of this name exists, as far as known within 2 s. Also accepts the uid of an account without a name. */
	readonly knows: (name: string) => Promise<boolean>;
};

type Options = {
	readonly run?: typeof runTool;
	readonly passwdFile?: string;
	readonly monotonicMs?: () => number;
};

/** Commands that know accounts outside of /etc/passwd (LDAP, SSSD, NIS): `getent`, or `id` if it is missing. */
const lookups: ReadonlyArray<{
	readonly command: string;
	readonly argsFor: (uid: number) => readonly string[];
	readonly parse: (stdout: string, uid: number) => string | undefined;
}> = [
	{command: 'getent', argsFor: (uid) => ['passwd', String(uid)], parse: (stdout, uid) => findInPasswd(stdout, uid)},
	{command: 'id', argsFor: (uid) => ['-nu', String(uid)], parse: (stdout, uid) => parseId(stdout, uid)},
];

const timeoutMs = 2000;

/** An unknown uid is looked up again after this time, because the directory server may have been down. */
const retryAfterMs = 60_000;

/** Creates the lookup of accounts in the user database. Never uses the environment, which users can set. A uid without an account is its own name. */
export const createUsers = ({
	run = runSystemTool,
	passwdFile = '/etc/passwd',
	monotonicMs = () => performance.now(),
}: Options = {}): Users => {
	const known = new Map<number, string>();
	const missedAt = new Map<number, number>();
	const asked = new Map<number, Promise<string>>();

	const recall = (uid: number): string | undefined => {
		const name = known.get(uid) ?? nameInFile(passwdFile, uid);
		const missedLately = monotonicMs() - (missedAt.get(uid) ?? -Infinity) < retryAfterMs;
		return name ?? (missedLately ? String(uid) : undefined);
	};

	const learn = (uid: number, name: string | undefined): string => {
		if (name === undefined) {
			missedAt.set(uid, monotonicMs());
			return String(uid);
		}

		known.set(uid, name);
		return name;
	};

	const ask = async (uid: number): Promise<string> => {
		for (const {command, argsFor, parse} of lookups) {
			const {stdout, failure} = await run(command, argsFor(uid), {timeoutMs, maxBytes: 65_536});
			if (failure !== 'not-found') {
				return learn(uid, parse(stdout, uid));
			}
		}

		return learn(uid, undefined);
	};

	const askOnce = async (uid: number): Promise<string> => {
		const answer = asked.get(uid) ?? ask(uid);
		asked.set(uid, answer);
		try {
			return await answer;
		} finally {
			asked.delete(uid);
		}
	};

	const findByName = async (name: string): Promise<boolean> => {
		for (const [command, ...words] of [
			['getent', 'passwd'],
			['id', '-u'],
		] as const) {
			const {stdout, failure, exitCode} = await run(command, [...words, name], {timeoutMs, maxBytes: 65_536});
			if (failure !== 'not-found') {
				return exitCode === 0 && (command === 'id' || isInPasswd(stdout, name));
			}
		}

		return false;
	};

	return {
		knows: async (name) =>
			/^\d{1,10}$/v.test(name) ||
			// A name with a leading hyphen would be read as an option. The other names rejected here cannot be in the user database.
			(/^[^+\-]/v.test(name) &&
				!/[\p{Control}\/:]/v.test(name) &&
				(isInPasswd(readPasswd(passwdFile), name) || (await findByName(name)))),
		nameOf: async (uid) => recall(uid) ?? askOnce(uid),
		nameOfSync(uid) {
			const name = recall(uid);
			if (name !== undefined) {
				return name;
			}

			for (const {command, argsFor, parse} of lookups) {
				const {stdout, error} = spawnSync(systemTool(command), argsFor(uid), {
					...blocking,
					env: systemEnvironment,
					timeout: timeoutMs,
				});
				if (!isMissing(error)) {
					return learn(uid, parse(stdout, uid));
				}
			}

			return learn(uid, undefined);
		},
	};
};

const isMissing = (error: Error | undefined) => error !== undefined && 'code' in error && error.code === 'ENOENT';

const blocking: SpawnSyncOptionsWithStringEncoding = {
	encoding: 'utf8',
	killSignal: 'SIGKILL',
	cwd: '/',
	stdio: ['ignore', 'pipe', 'ignore'],
};

/** The uid of this process, which decides about ownership. Undefined if the system has no uids. */
export const ownUid = (): number | undefined => process.getuid?.();

/** Returns the first account with this uid, as getpwuid(3) does. `text` has the format of passwd(5): `name:password:uid:...`. */
export const findInPasswd = (text: string, uid: number): string | undefined => {
	for (const line of text.split('\n')) {
		const [name = '', , id] = line.split(':', 3);
		// A leading `+` or `-` is an instruction to include NIS accounts, not an account.
		if (id === String(uid) && /^[^+\-]/v.test(name)) {
			return name;
		}
	}

	return undefined;
};

const isInPasswd = (text: string, name: string): boolean =>
	text.split('\n').some((line) => line.startsWith(`${name}:`));

const readPasswd = (file: string): string => {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return '';
	}
};

const nameInFile = (file: string, uid: number): string | undefined => findInPasswd(readPasswd(file), uid);

/** Returns the name that `id` printed. Ignores names that passwd(5) cannot contain, and the uid itself, which some systems print. */
const parseId = (stdout: string, uid: number): string | undefined => {
	const name = stdout.trim();
	return /^[^\s:]+$/v.test(name) && name !== String(uid) ? name : undefined;
};
