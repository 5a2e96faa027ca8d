import process from 'node:process';
import packageJson from '../../package.json' with {type: 'json'};
import {
	judgeAccount,
	judgeClock,
	judgeKeeping,
	judgeMachineConfig,
	judgePolicy,
	judgeProgram,
	judgeRecords,
	judgeScan,
	judgeStore,
	judgeVersions,
	type Finding,
} from '../core/rules/pool/diagnosis.js';
import {judgeUnknownNames, limitedNamesIn} from '../core/rules/limits/diagnosis.js';
import {judgeView} from '../core/rules/reclaim/diagnosis.js';
import {judgeTargets} from '../core/rules/notices/diagnosis.js';
import {judgeEnvironment} from '../core/rules/pool/environment.js';
import {emptyPlan} from '../core/model/plan.js';
import {isRoot} from '../core/rules/leases/ownership.js';
import {requireNoClone, requirePool} from '../core/rules/pool/pool.js';
import type {Pool, Snapshot} from '../core/model/types.js';
import {CanhazgpuError, withFallback} from '../errors.js';
import {diagnosisText} from '../format/tables/diagnosis.js';
import {decodeSharedScan} from '../core/rules/pool/shared-scan.js';
import {harmlessJson} from '../format/text/json.js';
import {sanitize} from '../format/text/text.js';
import type {Engine} from '../core/operations/engine.js';
import type {App, Detected, OpenWorld} from '../app/contract.js';
import type {Command, Input} from '../command-line/command.js';
import {isolationLevelOf, poolIsolationOf} from '../core/rules/pool/isolation.js';
import {fenceText, isolationReason, isolationRemedy} from '../format/isolation.js';
import {jsonFlag} from './shared/common-flags.js';
import {recentLossText} from './shared/data-loss.js';
import {withWorld} from './shared/with-world.js';

function findingOf(check: Finding['check'], error: unknown): Finding {
	if (!(error instanceof CanhazgpuError)) {
		throw error;
	}

	return {check, level: 'error', words: error.message, fix: error.hint};
}

/** Checks whether this account can commit and listen for changes. Makes an empty commit, for which the store checks the rights of every commit. */
async function tryCommit({store}: OpenWorld, gpuCount: number | undefined): Promise<Finding> {
	try {
		await store.commit({...emptyPlan, expect: [{kind: 'pool', gpuCount}]});
		const stopListening = await store.subscribe({changed: () => undefined});
		await stopListening();
		return {check: 'permissions', level: 'ok', words: 'this account can use the store'};
	} catch (error) {
		return findingOf('permissions', error);
	}
}

async function detectedFinding(app: App): Promise<Finding> {
	let detected: Detected;
	try {
		detected = await app.detect(undefined);
	} catch (error) {
		return findingOf('provider', error);
	}

	return detected.provider === undefined
		? {check: 'provider', level: 'warning', words: `No GPUs were found here: ${detected.reason}`}
		: {check: 'provider', level: 'ok', words: `${detected.provider}: ${detected.gpuCount} GPU(s)`};
}

/** Checks whether the history and the audit log are readable. Only the history is essential, because releasing a GPU reads it. */
async function tryKept({store}: OpenWorld, now: number): Promise<readonly Finding[]> {
	const reads = [
		[async () => store.history(now, now).pages()[Symbol.asyncIterator]().next(), 'error'],
		[async () => store.audit({newest: 1}), 'warning'],
	] as const;
	const findings: Finding[] = [];
	for (const [read, level] of reads) {
		try {
			await read();
		} catch (error) {
			const finding = findingOf('store', error);
			// Other errors, such as missing rights of this account, are reported by another check.
			if ((error as CanhazgpuError).code === 'pool-garbage') {
				findings.push({...finding, level});
			}
		}
	}

	return findings;
}

/** Checks whether other accounts can read this program and its settings. Needed only for root, because other accounts use root's files. */
function programFindings(app: App, {privateLabel}: OpenWorld): readonly Finding[] {
	if (!isRoot(app.host.account) || privateLabel !== undefined) {
		return [];
	}

	const program = app.closedProgram();
	const config = app.closedMachineConfig();
	return [
		...(program === undefined ? [] : [judgeProgram(program)]),
		...(config === undefined ? [] : [judgeMachineConfig(config)]),
	];
}

async function isolationFinding(app: App, {config}: Input, snapshot?: Snapshot): Promise<Finding> {
	const answer = await app.checkIsolation();
	const level = isolationLevelOf({
		setting: config.get('run.isolate'),
		policy: snapshot && poolIsolationOf(snapshot).level,
	});
	return answer.kind === 'possible'
		? {check: 'isolation', level: 'ok', words: `run --isolate works here, with ${fenceText(answer.fence)}`}
		: {
				check: 'isolation',
				level: level === 'require' ? 'error' : level === 'prefer' ? 'warning' : 'ok',
				words: `run --isolate does not work here: ${isolationReason(answer.problem)}`,
				fix: isolationRemedy(answer.problem),
			};
}

/** Converts a finding to JSON. The key for the fix keeps its older name, because scripts read it. */
const findingJson = ({fix, ...finding}: Finding) => ({...finding, mend: fix});

async function lossFindings(snapshot: Snapshot): Promise<readonly Finding[]> {
	const words = await recentLossText(snapshot);
	return words === undefined
		? []
		: [
				{
					check: 'store',
					level: 'warning',
					words,
					fix: "Repeat the lost reservations and changes. To find out why data was lost, see the store's log.",
				},
			];
}

async function limitFindings(app: App, snapshot: Snapshot): Promise<readonly Finding[]> {
	const names = await Promise.all(
		limitedNamesIn(snapshot).map(async (named) => ({named, isKnown: await app.isKnownName(named)})),
	);
	return judgeUnknownNames(names.filter(({isKnown}) => !isKnown).map(({named}) => named));
}

async function examineEngine(engine: Engine, {store, gpus, clock}: OpenWorld): Promise<readonly Finding[]> {
	const beforeMs = clock.monotonicMs();
	const snapshot = await store.read();
	const answeredMs = Math.round(clock.monotonicMs() - beforeMs);
	const observation = await gpus.observe();
	const broken = observation.gpus.filter(({failure}) => failure !== undefined);
	const words = [...new Set(broken.map(({failure}) => sanitize(failure ?? '')))];
	return [
		{check: 'store', level: 'ok', words: `${await engine.label()} answered in ${answeredMs} ms`},
		{check: 'pool', level: 'ok', words: `${snapshot.gpus.length} GPU(s), granted by Slurm`},
		...words.map((problem): Finding => ({
			check: 'gpus',
			level: 'warning',
			words: problem,
			fix: 'To see the state of the nodes: scontrol show node',
		})),
	];
}

async function examine(app: App, input: Input, world: OpenWorld): Promise<readonly Finding[]> {
	if (world.engine !== undefined) {
		return examineEngine(world.engine, world);
	}

	const {store, host, clock, gpus} = world;
	const scan = gpus.observe();
	const beforeMs = clock.monotonicMs();
	const snapshot = await store.read();
	const roundTripMs = clock.monotonicMs() - beforeMs;
	const ownSeconds = Date.now() / 1000;
	const condition = (await store.inspect?.()) ?? {};
	let pool: Pool | undefined;
	let poolFinding: Finding;
	try {
		pool = requirePool(snapshot, host, store);
		requireNoClone(snapshot, host, store.location);
		poolFinding = {check: 'pool', level: 'ok', words: `${pool.gpuCount} GPU(s), ${pool.provider}`};
	} catch (error) {
		poolFinding = findingOf('pool', error);
	}

	const posted = await withFallback(
		async () => store.scans.latest(),
		() => undefined,
	);
	const kept = await tryKept(world, snapshot.now);
	const commit = await tryCommit(world, snapshot.pool?.gpuCount);
	const seen = await scan;
	const scanned = snapshot.pool === undefined ? [await detectedFinding(app)] : judgeScan(seen, pool);
	return [
		...judgeStore(store, roundTripMs, {
			...condition,
			lacksPermissions: condition.lacksPermissions === true && world.privateLabel === undefined,
		}),
		...(world.privateLabel === undefined
			? []
			: [{check: 'store', level: 'warning', words: world.privateLabel} as const]),
		poolFinding,
		...judgeRecords(snapshot, store),
		...judgePolicy(snapshot, store.shell),
		...(await limitFindings(app, snapshot)),
		...judgeKeeping(snapshot, posted && {ageSeconds: posted.ageSeconds, scan: decodeSharedScan(posted.text)}),
		...judgeView(snapshot, seen, host.self.namespace),
		...(await lossFindings(snapshot)),
		...kept,
		...scanned,
		commit,
		...judgeAccount(host.account),
		...programFindings(app, world),
		await isolationFinding(app, input, snapshot),
		judgeClock(snapshot.now, ownSeconds, roundTripMs),
		...judgeVersions(packageJson.version, runtime(), condition.version),
	];
}

function runtime(): string {
	const {bun, node} = process.versions;
	return bun === undefined ? `Node ${node}` : `Bun ${bun}`;
}

async function examineMachine(app: App, input: Input, error: unknown): Promise<readonly Finding[]> {
	return [
		findingOf('store', error),
		await detectedFinding(app),
		await isolationFinding(app, input),
		...judgeVersions(packageJson.version, runtime(), undefined),
	];
}

async function examineAll(app: App, input: Input): Promise<readonly Finding[]> {
	try {
		return await withWorld(app, {willScan: true, details: 'all'}, async (world) => examine(app, input, world));
	} catch (error) {
		return examineMachine(app, input, error);
	}
}

export const doctor: Command = {
	name: 'doctor',
	summary: 'Check the store, the GPUs and this account, and suggest fixes',
	usage: '[--json]',
	examples: [['canhazgpu doctor', 'exit with code 1 if something is wrong']],
	flags: {json: jsonFlag},
	async run(app, input) {
		const notices = await app.loadNotices();
		const findings = [
			...(await examineAll(app, input)),
			...judgeEnvironment(await app.readEnvironment()),
			...judgeTargets(notices.checks()),
		];
		app.print(
			input.has('json')
				? harmlessJson({findings: findings.map((finding) => findingJson(finding))})
				: diagnosisText(findings, app.paint),
		);
		return findings.some(({level}) => level === 'error') ? 1 : 0;
	},
};
