/** Output of commands that updates until it is closed, and lists whose lines open another output. */
import {afterEach, expect, test} from 'vitest';
import type {LiveOutput, LiveOutputPage, MonitorPorts} from '../../source/tui/ports.js';
import {endSession, keys, startMonitor, type Session} from './_harness.js';
import {createBox} from './_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

/** A list of hosts and a page for each. `tell` sends the next page to the viewers of a line. */
async function open(first: Readonly<Record<string, LiveOutputPage>>) {
	const pages = new Map(Object.entries(first));
	const listeners = new Map<string, (page: LiveOutputPage) => void>();
	const liveOutputs = new Map(
		pages.keys().map((line): [string, LiveOutput] => [
			line,
			{
				begin(show) {
					listeners.set(line, show);
					show(pages.get(line)!);
					return () => {
						listeners.delete(line);
					};
				},
			},
		]),
	);
	const ports: MonitorPorts = {
		commandLine: {
			run: async () => [],
			liveOutputOf: (line) => liveOutputs.get(line),
			inShell: (line) => `canhazgpu ${line}`,
			complete: async () => ({start: 0, candidates: []}),
		},
	};
	session = startMonitor(await createBox(2), {ports});
	await session.shows(/> 0 +Free/v);
	return {
		...session,
		watched: () => listeners.keys().toArray(),
		push(line: string, page: LiveOutputPage) {
			pages.set(line, page);
			listeners.get(line)!(page);
		},
	};
}

const listOf = (...names: readonly string[]): LiveOutputPage => ({
	lines: ['HOST', '----', ...names.map((name) => `${name} is a host`)],
	opens: new Map(names.map((name, index) => [index + 2, `host ${name}`])),
});

test('top updates the output of a command live while the output is shown', async () => {
	const {press, shows, push, watched, store} = await open({host: {lines: ['asking']}});
	await press(':', 'host', keys.enter);
	await shows('$ canhazgpu host');
	await shows('asking');
	push('host', {lines: ['answered']});
	await shows('answered');
	expect(watched()).toEqual(['host']);
	await press(keys.escape);
	expect(store.getState().dialog).toBeUndefined();
	await expect.poll(watched).toEqual([]);
});

test('the selected host stays selected when a list of hosts changes, and Enter opens that host', async () => {
	const pages = {host: listOf('a', 'c'), 'host a': {lines: ['all of a']}, 'host c': {lines: ['all of c']}};
	const {press, shows, push, watched, store} = await open(pages);
	await press(':', 'host', keys.enter);
	await shows('>a is a host');
	await shows('Enter Open');
	await press(keys.down, keys.down);
	await shows('>c is a host');
	push('host', listOf('a', 'b', 'c'));
	await shows('b is a host');
	await shows('>c is a host');
	await press(keys.enter);
	await shows('all of c');
	await expect.poll(watched).toEqual(['host c']);
	// Enter closes the list, like any other output.
	await press(keys.enter);
	await shows('>c is a host');
	await expect.poll(watched).toEqual(['host']);
	await press(keys.home, keys.enter);
	await shows('all of a');
	await press(keys.escape, keys.escape);
	expect(store.getState().dialog).toBeUndefined();
});

test('the lines of an opened host have the colors of its GPU states', async () => {
	const page: LiveOutputPage = {lines: ['HEAD', '----', 'GPU 0 is free', 'GPU 1'], tones: new Map([[2, 'free']])};
	const {press, shows, store} = await open({'host a': page});
	await press(':', 'host a', keys.enter);
	await shows('GPU 0 is free');
	expect(store.getState().dialog).toMatchObject({kind: 'output', tones: new Map([[2, 'free']])});
});

test('a list of hosts that is longer than the screen scrolls with the selection', async () => {
	const names = Array.from({length: 40}, (_, number) => `host-${number}`);
	const {press, shows, screen} = await open({host: listOf(...names)});
	await press(':', 'host', keys.enter);
	await shows('1-20 of 42');
	await press(keys.end);
	await shows('>host-39 is a host');
	await shows('23-42 of 42');
	await press(keys.pageUp);
	await shows('>host-19 is a host');
	await press(keys.home);
	await shows('>host-0 is a host');
	expect(screen()).toContain('HOST');
});
