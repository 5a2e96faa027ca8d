/** Kills a command at each of its steps, one after another, and checks the state after each kill. */
import {expect} from 'vitest';
import type {Store} from '../../../source/core/model/ports.js';
import {createClock} from '../../../source/host/clock.js';
import {createHost} from '../../../source/host/host.js';
import {eventually} from '../eventually.js';
import {checkAuditLog} from '../store/audit-log.js';
import {idleReading, observationOf} from '../world.js';
import type {Box} from './cli.js';
import type {Ground} from './kill-grounds.js';
import {
	jobEnded,
	noPool,
	poolStateOf,
	type KilledCommand,
	type PoolState,
	type Stage,
	type Watched,
} from './killed-commands.js';
import type {Started} from './processes.js';

export function stageOf(store: Store, box: Box): Stage {
	const host = createHost();
	const clock = createClock();
	const readings = Array.from({length: 3}, (_, index) => idleReading(index));
	const gpus = {
		name: 'fake',
		simulated: false,
		count: async () => readings.length,
		observe: async () => observationOf(readings, {takenAtMs: clock.monotonicMs()}),
	} as const;
	return {
		box,
		world: {store, host, clock, gpus, memoryThresholdMiB: 1024},
		me: {account: host.account.name, uid: host.account.uid, label: host.account.name},
	};
}

/** Runs the next `status`, and returns the state after it. Throws if a change is only partly done. */
async function nextStatus(ground: Ground, box: Box) {
	const status = await box.run('status --json');
	if (!ground.exists(box)) {
		expect(status).toMatchObject({exitCode: 4, stdout: ''});
		return noPool;
	}

	const store = await ground.open(box);
	try {
		const snapshot = await store.read();
		expect(status).toMatchObject(snapshot.pool === undefined ? {exitCode: 4, stdout: ''} : {exitCode: 0, stderr: ''});
		expect(status.stderr).toMatch(snapshot.pool === undefined ? /^Error: There is no GPU pool/v : /^$/v);
		expect(snapshot.queue.filter(({kind}) => kind !== 'entry')).toEqual([]);
		await checkAuditLog({store}, snapshot);
		return poolStateOf(snapshot);
	} finally {
		await store.close();
	}
}

/** Lets other actions of the test wait for output of the process, until it ends. */
function watch(started: Started): Watched {
	let hasEnded = false;
	void started.ended.finally(() => {
		hasEnded = true;
	});
	return {
		kill: started.kill,
		async says(pattern) {
			await eventually(() => hasEnded || pattern.test(started.stderr()));
			if (!pattern.test(started.stderr())) {
				throw new Error(`It ended without saying ${String(pattern)}`);
			}
		},
	};
}

export type Outcome = {
	readonly isKilled: boolean;
	readonly exitCode: number | undefined;
	readonly stderr: string;
	/** Whether the job was started. */
	readonly hasRun: boolean;
	/** The state before the command, and the state after the next `status`. */
	readonly before: PoolState;
	readonly left: PoolState;
};

/** Kills the command at this point, if it gets that far, and checks the state. */
export async function killAt(ground: Ground, command: KilledCommand, at: number): Promise<Outcome> {
	const box = await ground.fresh();
	const store = command.arrange === undefined ? undefined : await ground.open(box);
	try {
		if (command.arrange !== undefined) {
			ground.announce?.(box);
		}

		const stage = store && stageOf(store, box);
		const arranged = stage && (await command.arrange?.(stage));
		const before = stage === undefined ? noPool : poolStateOf(await stage.world.store.read());
		const started = ground.startKilled(box, command.words(arranged), at);
		// If the command is killed first, the other actions stop waiting.
		const others = stage && command.meanwhile?.(stage, watch(started)).catch(() => undefined);
		const {signal, exitCode, stderr} = await started.ended;
		await others;
		const hasRun = await jobEnded(box);
		const left = await nextStatus(ground, box);
		if (command.again !== undefined) {
			const again = await box.run(command.again.words);
			expect(command.again.exitCodes, again.stderr).toContain(again.exitCode);
			await nextStatus(ground, box);
			if (command.arrange === undefined) {
				expect(ground.exists(box)).toBe(true);
				ground.checkSetUp?.(box);
			}
		}

		return {isKilled: signal === 'SIGKILL', exitCode, stderr, hasRun, before, left};
	} finally {
		await store?.close();
		box.remove();
	}
}

export type Sweep = {
	/** Kills the command at this point, and checks that its effect is complete or absent. Returns false if the command ended before this point. */
	readonly kill: (command: KilledCommand, at: number) => Promise<boolean>;
	/** Kills the server at this point, and checks the state and the command's messages. */
	readonly killServer: (command: KilledCommand, at: number) => Promise<void>;
	/** Like `killServer`, but the server also loses its data. */
	readonly killData: (command: KilledCommand, at: number) => Promise<void>;
};

export function createSweep(ground: Ground): Sweep {
	const undisturbed = new Map<KilledCommand, Promise<Outcome>>();
	const wholeOf = async (command: KilledCommand): Promise<Outcome> => {
		const known = undisturbed.get(command) ?? killAt(ground, command, Infinity);
		undisturbed.set(command, known);
		return known;
	};

	const check = async (command: KilledCommand, at: number): Promise<{whole: Outcome; outcome: Outcome}> => {
		const whole = await wholeOf(command);
		const outcome = await killAt(ground, command, at);
		const rightOnes = [outcome.before, whole.left, ...(command.mayLeave ?? [])];
		expect(rightOnes, `${command.name}, killed at ${at}: ${outcome.stderr}`).toContain(outcome.left);
		return {whole, outcome};
	};

	const checkWords = ({exitCode, stderr}: Outcome, whole: Outcome): void => {
		expect([whole.exitCode, 4]).toContain(exitCode);
		expect(stderr).not.toMatch(/^ +at /mv);
		if (exitCode === 4) {
			expect(stderr).toMatch(/^Error: .+\n.+\n$/v);
		}
	};

	return {
		async kill(command, at) {
			const {whole, outcome} = await check(command, at);
			if (!outcome.isKilled) {
				expect(outcome).toEqual({...whole, stderr: outcome.stderr});
			}

			return outcome.isKilled;
		},
		async killServer(command, at) {
			const {whole, outcome} = await check(command, at);
			checkWords(outcome, whole);
			if (outcome.exitCode !== 4) {
				// The command has reported success.
				expect(outcome.left).toBe(whole.left);
			}
		},
		async killData(command, at) {
			const whole = await wholeOf(command);
			const outcome = await killAt(ground, {...command, again: undefined}, at);
			// The newest grants are lost together with the rest of the data.
			if (!(outcome.exitCode === 1 && outcome.stderr.startsWith('Error: The GPUs were lost'))) {
				checkWords(outcome, whole);
			}

			// A job that was started runs to its end and leaves no reservation.
			expect([noPool, whole.left]).toContain(outcome.left);
			expect(outcome.exitCode).toBe(outcome.hasRun ? whole.exitCode : outcome.exitCode);
		},
	};
}
