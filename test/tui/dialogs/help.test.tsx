import {expect, test} from 'vitest';
import {HelpDialog} from '../../../source/tui/dialogs/help.js';
import {drawn, drawnDialog} from '../_drawn.js';
import {after, stateOf} from '../_harness.js';
import {createBox} from '../_world.js';

const box = await createBox(1);
const opened = async (columns: number, rows: number, more = {}) => stateOf(box, {columns, rows}, more, ['open-help']);

test('HelpDialog explains the states and marks on its last page', async () => {
	const state = after(await opened(80, 30), 'help-previous');
	expect(drawnDialog(<HelpDialog />, {state})).toMatchInlineSnapshot(`
		"╭─ Keys [Words] ────────────────────────────────────── 3 of 3 ─╮
		│   STATE        IN STATUS   MEANING                           │
		│   Free         AVAILABLE   Anyone can reserve it             │
		│   Mine         IN_USE      You hold it                       │
		│   Reserved     IN_USE      Someone else holds it             │
		│   Idle         IN_USE      Reserved, but nothing runs on it  │
		│   Waiting      IN_USE      Held for an entry in the queue    │
		│   Unreserved   UNRESERVED  In use, but not reserved          │
		│   Drained      ERROR       Taken out of service by hand      │
		│   Error        ERROR       Broken, unhealthy or unreadable   │
		│                                                              │
		│ Marks                                                        │
		│ > *         selected, tagged                                 │
		│ 0-7 (8)     8 GPUs of a reservation                          │
		│ dave?       uses it without a reservation                    │
		│ ! dave: x   runs x on a GPU of somebody else                 │
		│ !12m        ends in less than 15 minutes                     │
		│ on-exit     ends when its job does                           │
		│ 80C!        hot                                              │
		│ hidden      the GPU tool reports no processes                │
		│                                                              │
		│ ━━━━━━━━━━━━ load: calm, busy, nearly full                   │
		│ ━━━━━━━━━━━━ memory in use                                   │
		╰──────────────────────────────────────────────────────────────╯"
	`);
});

test('HelpDialog shows as many keys as fit on its first page', async () => {
	expect(drawnDialog(<HelpDialog />, {state: await opened(60, 15)})).toMatchInlineSnapshot(`
		"╭─ [Keys] Words ───────────── 1 of 9 ─╮
		│ Reserve                             │
		│ r           reserve GPUs for a time │
		│ R           reserve these, adopt    │
		│ x Ctrl-D    release GPUs            │
		│ e           extend the reservation  │
		│ E           keep my idle GPUs       │
		│ z           undo a release (10 s)   │
		│ y           copy its export line    │
		╰─────────────────────────────────────╯"
	`);
});

test('HelpDialog for a screen reader has one column', async () => {
	const state = await opened(60, 15, {isLinear: true});
	expect(
		drawn(<HelpDialog />, {state, frame: 'plain'})
			.split('\n')
			.slice(0, 3),
	).toMatchInlineSnapshot(`
		[
		  "[Keys] Words:",
		  "Reserve",
		  "r           reserve GPUs for a time",
		]
	`);
});
