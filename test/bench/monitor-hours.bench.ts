/**
Memory that the monitor keeps after ten hours of scans every two seconds, changing users and events. The hours are simulated, and a real frame is
drawn every 40 simulated seconds. Reports the growth of RSS. See frame-latency for the total.
*/
import {Writable} from 'node:stream';
import {setImmediate as nextTurn} from 'node:timers/promises';
import process from 'node:process';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import type {GpuReading, Snapshot} from '../../source/core/model/types.js';
import {mostEvents} from '../../source/tui/state/state.js';
import {keepHeapSmall} from '../../source/commands/shared/small-heap.js';
import {readCurrent} from '../../source/core/operations/transact.js';
import {busy, createBox, lease, utcTime} from '../tui/_world.js';
import {report, printFigure} from './_helpers/measure.js';

process.env['NODE_ENV'] = 'production';
const {createElement} = await import('react');
const {render} = await import('ink');
const {Screen} = await import('../../source/tui/screens/screen.js');
const {StoreContext} = await import('../../source/tui/state/use-monitor.js');
const {createStateStore} = await import('../../source/tui/state/store.js');
const {initialState} = await import('../../source/tui/state/state.js');
keepHeapSmall();

const gpuCount = 8;
const stepSeconds = 2;
const hours = 10;
/** Drawing at the real rate would take hours. This rate leaves time to collect the garbage of each frame. */
const stepsPerFrame = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Excludes garbage that an idle monitor at the real rate would have collected. */
function residentMiB(): number {
	collectGarbage();
	return process.memoryUsage.rss() / 2 ** 20;
}

class Screenful extends Writable {
	isTTY = true;
	columns = 120;
	rows = 32;
	bytes = 0;

	override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
		this.bytes += chunk.length;
		done();
	}
}

const box = await createBox(gpuCount, {leases: {0: lease('alice'), 3: lease('bob')}});
const snapshot = await readCurrent(box.world);
const size = {columns: 120, rows: 32};
const store = createStateStore(
	initialState(
		{
			requester: {account: 'alice', uid: 1001, label: 'alice'},
			hostname: 'gpu-box-3',
			storeLocation: 'memory',
			isReadonly: false,
			isAscii: false,
			hasColor: true,
			hasGradients: true,
			isLight: false,
			isLinear: false,
			memoryThresholdMiB: 1024,
			scanIntervalMs: stepSeconds * 1000,
			formatTime: utcTime,
		},
		size,
		0,
	),
);

const stdout = new Screenful();
const instance = render(createElement(StoreContext, {value: store}, createElement(Screen)), {
	stdout: stdout as unknown as NodeJS.WriteStream,
	alternateScreen: true,
	incrementalRendering: true,
	maxFps: 60,
	patchConsole: false,
	interactive: true,
});

const readingsAt = (step: number): readonly GpuReading[] =>
	Array.from({length: gpuCount}, (_, index) =>
		busy(index, `user${(index + step) % 5}`, `python train.py --step ${step}`, {
			gibibytes: (step + index * 7) % 80,
			percent: (step * 3 + index * 11) % 101,
		}),
	);

/** The holder of GPU 5 changes with every snapshot. */
const snapshotAt = (step: number): Snapshot => ({
	...snapshot,
	now: snapshot.now + step * stepSeconds,
	gpus: snapshot.gpus.with(5, {kind: 'leased', index: 5, raw: String(step), lease: lease(`user${step % 7}`)}),
});

const steps = (hours * 3600) / stepSeconds;
let halfway = 0;
for (let step = 1; step <= steps; step++) {
	const nowMs = step * stepSeconds * 1000;
	store.dispatch({
		kind: 'scan-arrived',
		nowMs,
		observation: {provider: 'nvidia', takenAtMs: nowMs, simulated: false, gpus: readingsAt(step), warnings: []},
	});
	if (step % 5 === 0) {
		store.dispatch({kind: 'snapshot-arrived', snapshot: snapshotAt(step), nowMs});
		const entry = {id: String(step), time: snapshot.now + step, kind: 'granted', account: 'carol', gpus: [5]} as const;
		const {entries} = store.getState().events;
		store.dispatch({kind: 'events-arrived', entries: [...entries, entry].slice(-mostEvents)});
	}

	store.dispatch({kind: 'ticked', nowMs: nowMs + 1000});
	if (step % stepsPerFrame === 0) {
		await nextTurn();
	}

	if (step === steps / 2) {
		halfway = residentMiB();
	}

	if (step % (3600 / stepSeconds) === 0) {
		printFigure(`RSS after ${(step * stepSeconds) / 3600} h`, residentMiB(), 'MiB');
	}
}

report('RSS grown in the last five', residentMiB() - halfway, {limit: 15, unit: 'MiB'});
printFigure('written', stdout.bytes / 2 ** 20, 'MiB');
instance.unmount();
