import process from 'node:process';
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {EngineWorld} from '../../core/operations/engine.js';
import {jobsWithIds, readCurrentJobs, requireOwn} from '../../core/operations/jobs/jobs.js';
import {watchForLoss} from '../../core/operations/jobs/missed-record.js';
import {jobIdOf} from '../../core/rules/jobs/ids.js';
import {soundJobs} from '../../core/rules/jobs/look.js';
import {isOver} from '../../core/rules/jobs/start.js';
import {CanhazgpuError, codeOf, isReaderGone, lostOutput} from '../../errors.js';
import type {App, OpenedLog} from '../../app/contract.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import type {Command} from '../../command-line/command.js';
import type {Job} from '../../core/model/jobs.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {jobIdOfInput} from './job-words.js';

const lookMs = 250;

/** The number of reads of the output for each read of the job's record. */
const readEvery = 8;

async function findJob(app: Pick<App, 'requester'>, world: EngineWorld, id: string): Promise<Job> {
	const [record, another] = jobsWithIds(await readCurrentJobs(world), [id]);
	requireOwn(app.requester(undefined), record!);
	if (another !== undefined) {
		throw new CanhazgpuError('usage', `${id} is an array, and each of its jobs has its own output`, {
			hint: `Name one of them: canhazgpu logs ${jobIdOf(record!.job)}`,
			agentHint: `Name one of them: job_id "${jobIdOf(record!.job)}"`,
		});
	}

	return record!.job;
}

export type JobOutput = {
	readonly file: string;
	/** Whether the job has ended. False if unknown. */
	readonly hasEnded: () => Promise<boolean>;
	/** Whether the job has not started, so that its output may not exist yet. False if unknown, and in a pool, where the output always exists. */
	readonly isWaiting: () => Promise<boolean>;
};

/** Finds the output of a job. Throws `usage` for an unknown id or an array, and `not-owner` for a job of another account. */
export async function findOutput(
	app: Pick<App, 'requester' | 'clock'>,
	world: EngineWorld,
	id: string,
): Promise<JobOutput> {
	const {engine} = world;
	const requester = app.requester(undefined);
	if (engine !== undefined) {
		const isEvery = async (check: (row: JobRow) => boolean): Promise<boolean> =>
			unlessFailing(async () => (await engine.jobs.find([id], requester.account)).every((row) => check(row)));
		return {
			file: await engine.jobs.outputOf(requester, id),
			hasEnded: async () => isEvery((row) => isOver(row)),
			isWaiting: async () => isEvery(({state}) => state === 'pending' || state === 'queued'),
		};
	}

	const {number, log} = await findJob(app, world, id);
	const isLost = watchForLoss(app);
	return {
		file: log,
		async hasEnded() {
			let isMissing = false;
			const hasEnded = await unlessFailing(async () => {
				const [job] = soundJobs(await readCurrentJobs(world, [number]));
				isMissing = job === undefined;
				return job !== undefined && isOver(job);
			});
			return isLost(isMissing) || hasEnded;
		},
		// The output is created when the background process of the job starts.
		isWaiting: async () =>
			unlessFailing(async () => {
				const [job] = soundJobs(await readCurrentJobs(world, [number]));
				return job !== undefined && !job.isHeld && !isOver(job);
			}),
	};
}

async function unlessFailing(ask: () => Promise<boolean>): Promise<boolean> {
	try {
		return await ask();
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return false;
		}

		throw error;
	}
}

/** Opens the output. With `isFollowing`, first waits until the job has started. Returns undefined if a signal ended the wait. */
async function openOutput(
	app: App,
	{file, isWaiting}: JobOutput,
	isFollowing: boolean,
	signal: AbortSignal,
): Promise<OpenedLog | undefined> {
	const {openLog} = await app.loadDetaching();
	let mayCome = isFollowing;
	while (!signal.aborted) {
		try {
			return openLog(file);
		} catch (error) {
			if (!mayCome || !(error instanceof CanhazgpuError) || codeOf(error.cause) !== 'ENOENT') {
				throw error;
			}
		}

		// Looks once more after the start, because the file may be created some time later.
		mayCome = await isWaiting();
		await app.clock.sleep(lookMs * readEvery, signal).catch(() => undefined);
	}

	return undefined;
}

/** Writes to stdout and waits until the text is written. Resolves with false if the reader has gone. Throws if the output is lost, as on a full disk. */
const write = async (bytes: Uint8Array): Promise<boolean> =>
	new Promise((resolve, reject) => {
		process.stdout.write(bytes, (error) => {
			if (error === null || error === undefined) {
				resolve(true);
			} else if (isReaderGone(error)) {
				resolve(false);
			} else {
				reject(lostOutput(error));
			}
		});
	});

export const logs: Command = {
	name: 'logs',
	summary: 'Print the output of a job',
	usage: '[-f] ID',
	examples: [
		['canhazgpu logs 7', 'the output of job 7 so far'],
		['canhazgpu logs -f 7', 'keep printing until the job ends'],
		['canhazgpu logs 7_3', 'index 3 of array 7'],
	],
	flags: {
		follow: {shortFlag: 'f', summary: 'keep printing new output until the job ends'},
		on: onFlag,
	},
	takesWords: true,
	words: 'single-jobs',
	secondsElsewhere: 'unlimited',
	async run(app, input) {
		const id = jobIdOfInput(input, 'logs');
		const exitCode = await runOnNamedHost(app, input, logs);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {keepReconnecting: input.has('follow')}, async (world) => {
			const output = await findOutput(app, world, id);
			const interruption = app.interruption();
			let log: OpenedLog | undefined;
			try {
				log = await openOutput(app, output, input.has('follow'), interruption.signal);
				if (log === undefined) {
					return interruption.exitCode();
				}

				let isEnding = !input.has('follow');
				let isEmpty = true;
				for (let looks = 0; !interruption.signal.aborted; looks++) {
					for (let bytes = log.read(); bytes.length > 0 && !interruption.signal.aborted; bytes = log.read()) {
						isEmpty = false;
						if (!(await write(bytes))) {
							return 0;
						}

						// Lets signals arrive, because a write to a file or a terminal can be finished at once.
						await nextTurn();
					}

					if (isEnding && !interruption.signal.aborted) {
						if (isEmpty) {
							app.remark(`canhazgpu: job ${id} has not written any output`);
						}

						return 0;
					}

					// Once the job has ended, another round prints the rest of the output.
					isEnding = looks % readEvery === 0 && (await output.hasEnded());
					await app.clock.sleep(lookMs, interruption.signal).catch(() => undefined);
				}

				return interruption.exitCode();
			} finally {
				interruption.end();
				log?.close();
			}
		});
	},
};
