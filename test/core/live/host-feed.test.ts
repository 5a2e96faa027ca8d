import {afterEach, expect, test} from 'vitest';
import {createHostFeed, type HostFeed} from '../../../source/core/live/host-feed.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';

let feed: HostFeed<string> | undefined;

afterEach(() => {
	feed?.stop();
});

const failed = (words: string): CanhazgpuError => new CanhazgpuError('failed', words);

/** Names of the hosts that have reported an update, in order. */
let updates: string[] = [];

/** Starts a host feed whose hosts the test controls. `opened` and `asked` list the connections and requests, in order. */
function start() {
	const clock = createVirtualClock();
	const connections = new Map<
		string,
		{onValue: (value: string) => void; end: (error?: CanhazgpuError) => void; signal: AbortSignal}
	>();
	const opened: string[] = [];
	const asked: string[] = [];
	updates = [];
	feed = createHostFeed<string>({
		async open(name, onValue, signal) {
			opened.push(name);
			return new Promise((resolve, reject) => {
				connections.set(name, {
					onValue,
					signal,
					end(error) {
						if (error === undefined) {
							resolve('unsupported');
						} else {
							reject(error);
						}
					},
				});
				signal.addEventListener('abort', () => {
					reject(failed('aborted'));
				});
			});
		},
		async askOnce(name) {
			asked.push(name);
			return `asked ${asked.length}`;
		},
		onUpdate(name) {
			updates.push(name);
		},
		clock,
		broken(error) {
			throw error;
		},
	});
	return {feed, clock, opened, asked, host: (name: string) => connections.get(name)!};
}

test('the host feed returns the latest answer of each host over one open connection', async () => {
	const {feed: hosts, clock, opened, host} = start();
	const [first, second] = [hosts.ask('a'), hosts.ask('a')];
	host('a').onValue('one');
	expect(await Promise.all([first, second])).toEqual(['one', 'one']);
	host('a').onValue('two');
	expect(await hosts.ask('a')).toBe('two');
	for (let seconds = 0; seconds < 120; seconds += 5) {
		host('a').onValue(`at ${seconds}`);
		await clock.pass(5);
		expect(await hosts.ask('a')).toBe(`at ${seconds}`);
	}

	expect(opened).toEqual(['a']);
});

test('the host feed reports at once which host sent an answer, stopped responding or disconnected', async () => {
	const {feed: hosts, clock, host} = start();
	const asking = [hosts.ask('a'), hosts.ask('b')];
	host('a').onValue('one');
	host('b').onValue('one');
	await Promise.all(asking);
	host('a').onValue('two');
	expect(updates).toEqual(['a', 'b', 'a']);
	host('b').end(failed('b: gone'));
	await clock.pass(0);
	expect(updates.slice(3)).toEqual(['b']);
	await clock.pass(15);
	expect(updates.slice(4)).toEqual(['a']);
	await expect(hosts.ask('a')).rejects.toThrow('a: no answer within 15 s');
});

test('the host feed closes a connection that nobody has read for 20 s, and reopens it on demand', async () => {
	const {feed: hosts, clock, opened, host} = start();
	const asking = hosts.ask('a');
	host('a').onValue('one');
	await asking;
	const {signal} = host('a');
	for (let seconds = 0; seconds < 25; seconds += 5) {
		host('a').onValue('still there');
		await clock.pass(5);
	}

	expect(signal.aborted).toBe(true);
	const again = hosts.ask('a');
	host('a').onValue('back');
	expect(await again).toBe('back');
	expect(opened).toEqual(['a', 'a']);
});

test('the host feed disconnects a host that stops responding, and reconnects later', async () => {
	const {feed: hosts, clock, opened, host} = start();
	const asking = hosts.ask('a');
	host('a').onValue('one');
	await asking;
	const {signal} = host('a');
	for (let seconds = 0; seconds < 16; seconds += 2) {
		await hosts.ask('a').catch(() => undefined);
		await clock.pass(2);
	}

	await expect(hosts.ask('a')).rejects.toThrow('a: no answer within 15 s');
	expect(signal.aborted).toBe(true);
	expect(opened).toEqual(['a']);
	await clock.pass(10);
	const again = hosts.ask('a');
	host('a').onValue('back');
	expect(await again).toBe('back');
});

test('the host feed reports an error if a host refuses the connection or does not answer within 15 s', async () => {
	const {feed: hosts, clock, opened, host} = start();
	const silent = hosts.ask('silent');
	const outcome = expect(silent).rejects.toThrow('silent: no answer within 15 s');
	await clock.pass(16);
	await outcome;
	const refusing = hosts.ask('refusing');
	host('refusing').end(failed('refusing: Permission denied'));
	await expect(refusing).rejects.toThrow('Permission denied');
	await clock.pass(5);
	await expect(hosts.ask('refusing')).rejects.toThrow('Permission denied');
	expect(opened).toEqual(['silent', 'refusing']);
});

test('the host feed polls a host whose older version cannot stream, and tries to stream again later', async () => {
	const {feed: hosts, clock, opened, asked, host} = start();
	const first = hosts.ask('old');
	host('old').end();
	expect(await first).toBe('asked 1');
	expect(await hosts.ask('old')).toBe('asked 1');
	await clock.pass(11);
	expect(await Promise.all([hosts.ask('old'), hosts.ask('old')])).toEqual(['asked 2', 'asked 2']);
	expect([opened.length, asked.length]).toEqual([1, 2]);
	await clock.pass(700);
	const again = hosts.ask('old');
	host('old').onValue('new');
	expect(await again).toBe('new');
});
