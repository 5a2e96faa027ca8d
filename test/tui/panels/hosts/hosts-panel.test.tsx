import {expect, test} from 'vitest';
import {HostsHeader} from '../../../../source/tui/panels/hosts/hosts-header.js';
import {HostsPanel} from '../../../../source/tui/panels/hosts/hosts-panel.js';
import type {Settings} from '../../../../source/tui/state/state.js';
import {drawn} from '../../_drawn.js';
import {stateOf, type Step} from '../../_harness.js';
import {createBox, lease} from '../../_world.js';
import {answered, failed, held, remoteRow} from '../../hosts/_hosts.js';

const box = await createBox(2, {leases: {0: lease('alice')}});
const known = [
	answered('box-1', [held(0, 'bob', {type: 'RUN', remaining_seconds: undefined}), remoteRow(1)], 1000, 2),
	failed('box-2', 'ssh: connect to host box-2 port 22: No ro\u{1B}[31mute', {
		rows: [remoteRow(0)],
		answeredMs: -59_000,
	}),
	failed('box-3', 'canhazgpu is not installed there'),
];
const otherHosts = ['box-1', 'box-2', 'box-3', 'box-4'];

const hosts = async (columns: number, steps: readonly Step[] = [], more: Partial<Settings> = {}) =>
	stateOf(box, {columns, rows: 30}, {otherHosts, ...more}, [
		'focus-hosts',
		{kind: 'hosts-arrived', known, nowMs: 1000},
		...steps,
	]);

test('HostsPanel shows GPUs of each host, hosts with a problem, and the age of old values', async () => {
	expect(drawn(<HostsPanel width={100} rows={9} />, {state: await hosts(100)})).toMatchInlineSnapshot(`
		"╭─ 7:Hosts  sort HOST^ ──────────────────────────────────────────────────────────────── 1-8 of 10 ─╮
		│  HOST             GPU STATE      OWNER      ENDS    UTIL          MEM           TEMP  MODEL      │
		│  gpu-box-3            1/2 free                      ────────   0% 0/159G                         │
		│> gpu-box-3          0 Mine       alice      4h00m   ────────   0% ────────   0G  30C  H100       │
		│  gpu-box-3          1 Free       -          -       ────────   0% ────────   0G  31C  H100       │
		│  box-1                1/2 free   Queue 2            ────────   0% 0/160G                         │
		│  box-1              0 Reserved   bob        on-exit ────────   0% ────────   0G  30C  A100       │
		│  box-1              1 Free       -          -       ────────   0% ────────   0G  31C  A100       │
		│  box-2            ! ssh: No route (values of 1m ago)                                             │
		│  box-2              0 Free?      -          -       ────────   0% ────────   0G  30C  A100       │
		╰──────────────────────────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('HostsPanel in 60 columns keeps the host, the state and the owner', async () => {
	const panel = <HostsPanel width={60} rows={9} />;
	expect(drawn(panel, {state: await hosts(60), frame: 'ruled'})).toMatchInlineSnapshot(`
		"── 7:Hosts  sort HOST^ ──────────────────────── 1-8 of 10 ──
		  HOST         GPU STATE      OWNER    ENDS    UTIL      MEM
		  gpu-box-3        1/2 free                      0%   0/159G
		> gpu-box-3      0 Mine       alice    4h00m     0%    0/80G
		  gpu-box-3      1 Free       -        -         0%    0/80G
		  box-1            1/2 free   Queue 2            0%   0/160G
		  box-1          0 Reserved   bob      on-exit   0%    0/80G
		  box-1          1 Free       -        -         0%    0/80G
		  box-2        ! ssh: No route (values of 1m ago)
		  box-2          0 Free?      -        -         0%    0/80G"
	`);
});

test('HostsPanel explains why it shows no other hosts, or nothing', async () => {
	const panel = <HostsPanel width={100} rows={9} />;
	expect(drawn(panel, {state: await hosts(100, [], {otherHosts: []})})).toContain(
		'Name other hosts in the setting remote_hosts to see them here',
	);
	const filter: readonly Step[] = ['open-filter', {kind: 'typed', text: 'nothing'}, 'keep-filter'];
	expect(drawn(panel, {state: await hosts(100, filter)})).toContain(
		'No GPU of any host matches; Esc clears the filter',
	);
});

test.each([
	[
		60,
		[
			' canhazgpu  5 hosts  2 live  1 asked  2 down      rw  14:32',
			' Free 2  Mine 1  Others 1  of 4                     Queue 2',
		],
	],
	[
		120,
		[
			' canhazgpu top  5 hosts  2 answering  1 asked  2 not answering                                      rw  alice  14:32:07',
			' Free 2  Mine 1  Others 1  of 4                                             Util ────────────   0%  Mem 0/319G  Queue 2',
		],
	],
] as const)('HostsHeader in %i columns', async (columns, expected) => {
	expect(drawn(<HostsHeader />, {state: await hosts(columns)}).split('\n')).toEqual(expected);
});

test('HostsHeader leaves no word out for a screen reader', async () => {
	expect(drawn(<HostsHeader />, {state: await hosts(60), frame: 'plain'})).toMatchInlineSnapshot(`
		"canhazgpu top  5 hosts  2 answering  1 asked
		2 not answering  rw  alice  14:32:07
		Free 2  Mine 1  Others 1  of 4  Util ────────────   0%
		Mem 0/319G  Queue 2"
	`);
});
