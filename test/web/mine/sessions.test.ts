import fc from 'fast-check';
import {expect, test} from 'vitest';
import {createOnce} from '../../../source/web/act/once.js';
import {createSessions, linkMinutes} from '../../../source/web/act/sessions.js';

/** Creates sessions with the secrets `s1`, `s2`, ... and a manual clock. */
function start() {
	let now = 0;
	let count = 0;
	const sessions = createSessions({monotonicMs: () => now, secret: () => `s${++count}`});
	return {
		...sessions,
		pass(minutes: number) {
			now += minutes * 60_000;
		},
	};
}

type Sessions = ReturnType<typeof start>;

const tokenOf = ({newLink, open}: Sessions): string => {
	const opened = open(newLink());
	if (opened.kind !== 'opened') {
		throw new Error(opened.kind);
	}

	return opened.token;
};

test('a sign-in link works only once, only for ten minutes and only until a newer link is created', () => {
	const sessions = start();
	const first = sessions.newLink();
	expect(sessions.open(first).kind).toBe('opened');
	expect(sessions.open(first).kind).toBe('used');
	const second = sessions.newLink();
	sessions.pass(linkMinutes);
	expect(sessions.open(second).kind).toBe('expired');
	const third = sessions.newLink();
	const fourth = sessions.newLink();
	expect(sessions.open(third).kind).toBe('unknown');
	expect(sessions.open(fourth).kind).toBe('opened');
});

test('a session ends when it is idle, closed, or replaced by too many newer sessions', () => {
	const sessions = start();
	const token = tokenOf(sessions);
	for (let hours = 0; hours < 30; hours += 7) {
		sessions.pass(7 * 60);
		expect(sessions.isOpen(token)).toBe(true);
	}

	sessions.pass(8 * 60);
	expect(sessions.isOpen(token)).toBe(false);
	const next = tokenOf(sessions);
	sessions.end(next);
	expect(sessions.isOpen(next)).toBe(false);
	const many = Array.from({length: 17}, () => tokenOf(sessions));
	expect(many.map((each) => sessions.isOpen(each))).toEqual([false, ...Array.from({length: 16}, () => true)]);
});

test('each sign-in link opens at most one session, and is not itself the token of a session', () => {
	const step = fc.oneof(
		fc.constant({kind: 'link'} as const),
		fc.record({kind: fc.constant('open' as const), of: fc.nat(9)}),
		fc.record({kind: fc.constant('pass' as const), minutes: fc.nat(12)}),
	);
	fc.assert(
		fc.property(fc.array(step, {maxLength: 40}), (steps) => {
			const sessions = start();
			const links: string[] = [];
			const opened: string[] = [];
			for (const each of steps) {
				if (each.kind === 'link') {
					links.push(sessions.newLink());
				} else if (each.kind === 'pass') {
					sessions.pass(each.minutes);
				} else if (links.length > 0) {
					const link = links[each.of % links.length]!;
					if (sessions.open(link).kind === 'opened') {
						opened.push(link);
					}
				}
			}

			expect(new Set(opened).size).toBe(opened.length);
			expect(links.filter((link) => sessions.isOpen(link))).toEqual([]);
		}),
	);
});

test('createOnce runs requests with the same id once, and refuses too many requests at the same time', async () => {
	const once = createOnce<number>();
	const gate = Promise.withResolvers<void>();
	let begun = 0;
	const begin = async () => {
		begun++;
		await gate.promise;
		return begun;
	};

	const same = [once('a', begin), once('a', begin)];
	const others = Array.from({length: 7}, async (_, index) => once(`b${index}`, begin));
	await expect(once('c', begin)).rejects.toThrow(/Too many/v);
	expect(begun).toBe(8);
	gate.resolve();
	await Promise.all([...same, ...others]);
	expect(await once('a', begin)).toBe(await same[0]);
	await once('c', begin);
	expect(begun).toBe(9);
});
