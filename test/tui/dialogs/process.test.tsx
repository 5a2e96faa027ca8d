import {expect, test} from 'vitest';
import {ProcessDialog} from '../../../source/tui/dialogs/process.js';
import {allProcesses} from '../../../source/tui/state/processes/rows.js';
import type {Size} from '../../../source/tui/state/state.js';
import {drawnDialog} from '../_drawn.js';
import {stateOf} from '../_harness.js';
import {createCrowd, pastOfCrowd} from '../processes/_crowd.js';

const box = await createCrowd();

const dialog = async (pid: number, size: Size, change = {}): Promise<string> => {
	const state = await stateOf(box, size, {}, [], pastOfCrowd(box));
	const row = allProcesses(state).find(({process}) => process.pid === pid)!;
	return drawnDialog(<ProcessDialog kind="process" shown={{...row, ...change}} />, {state});
};

test('ProcessDialog shows the owner, the use, the command and graphs of a process', async () => {
	expect(await dialog(90_001, {columns: 80, rows: 24})).toMatchInlineSnapshot(`
		"╭─ Process 90001 on GPU 1  H100 ─────────────────────────────────────────────╮
		│ carol belongs to the holder of the G… held by carol  container 4f5e6d7c8b… │
		│ SM 60%  memory 29G  CPU 98%  host 4.9G  for 13m                            │
		│                                                                            │
		│ python train.py --config big.yaml                                          │
		│                                                                            │
		│    SM 100%│                              mem 80G│                          │
		│           │                                     │                          │
		│           │                                     │                          │
		│           │                                     │                          │
		│           │   ⡀           ⢀                     │                          │
		│           │ ⢀⣾⣿⣆         ⣰⣿⣷⡀                   │                          │
		│           │ ⣼⣿⣿⣿⡄       ⢠⣿⣿⣿⣧                   │                          │
		│           │⢰⣿⣿⣿⣿⣷       ⣾⣿⣿⣿⣿⡆                  │                       ⢀⣠ │
		│           │⣿⣿⣿⣿⣿⣿⡆     ⢰⣿⣿⣿⣿⣿⣿     ⢸            │                 ⢀⣀⣤⣴⣶⣿⣿⣿ │
		│           │⣿⣿⣿⣿⣿⣿⣿     ⣿⣿⣿⣿⣿⣿⣿⣇    ⢸            │            ⣀⣠⣤⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿ │
		│           │⣿⣿⣿⣿⣿⣿⣿⣇   ⣸⣿⣿⣿⣿⣿⣿⣿⣿⡄  ⢀⣿            │      ⢀⣠⣤⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿ │
		│         0%│⣿⣿⣿⣿⣿⣿⣿⣿⣆⣀⣰⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣀⣀⣼⣿          0G│⣀⣀⣤⣴⣶⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿ │
		│            -5m                   now             -5m                   now │
		╰────────────────────────────────────────────────────────────────────────────╯"
	`);
});

test('ProcessDialog on a low screen has no empty lines', async () => {
	expect(await dialog(90_100, {columns: 60, rows: 15})).toMatchInlineSnapshot(`
		"╭─ Process 90100 on GPU 1  H100 ─────────────────────────╮
		│ dave runs on a GPU that someone else ho… held by carol │
		│ SM 30%  memory 5.9G  CPU 12%  host unknown  for 1m     │
		│ ./miner --pool x                                       │
		│    mem 80G│                                            │
		│           │                                            │
		│           │                                            │
		│           │                                            │
		│         0G│⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀ │
		│            -5m                                     now │
		╰────────────────────────────────────────────────────────╯"
	`);
});

test('ProcessDialog says what is unknown', async () => {
	expect((await dialog(90_200, {columns: 80, rows: 24})).split('\n').slice(1, 5)).toMatchInlineSnapshot(`
		[
		  "│ unknown user may belong to the holder, but its owner is unk… held by carol │",
		  "│ SM unknown  memory 0.3G  CPU unknown  host unknown  for unknown            │",
		  "│                                                                            │",
		  "│ its command is unknown                                                     │",
		]
	`);
});

test('ProcessDialog of a process that has ended shows its last values', async () => {
	const ended = await dialog(90_100, {columns: 80, rows: 24}, {key: 'ended'});
	expect(ended.split('\n', 3)[2]).toContain('This process has ended. These are its last values');
});
