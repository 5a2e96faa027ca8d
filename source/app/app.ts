/** Builds the program from its parts: the only module that chooses implementations of the store, the GPU provider and the host. */
import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {isatty} from 'node:tty';
import type {Config} from '../config/config.js';
import {requesterOf, provenAccount} from '../core/rules/leases/ownership.js';
import type {GpuProvider, Host, Store} from '../core/model/ports.js';
import type {ProviderName} from '../core/model/types.js';
import {onlyForPool} from '../core/operations/pool/own-gpus.js';
import {CanhazgpuError, messageOf} from '../errors.js';
import type {EarlyRuns} from '../gpu/tool/early-tool.js';
import type {SimulatedProcesses} from '../gpu/simulated/processes.js';
import type {Scenario} from '../gpu/simulated/scenario.js';
import {columnsOf} from '../format/text/output-columns.js';
import type {Paint} from '../format/text/paint.js';
import {createClock} from '../host/clock.js';
import {knowsGroup} from '../host/accounts/groups.js';
import {createUsers} from '../host/accounts/users.js';
import {createHost} from '../host/host.js';
import {listenForInterruption} from '../host/job/interruption.js';
import {sendSignal} from '../host/process/send-signal.js';
import {refuseMessages} from '../host/notices/own-terminal.js';
import {usualMachineFile} from '../config/files.js';
import {lookUpCommand} from '../host/tool/command.js';
import {findClosedPart} from '../security/safe-file.js';
import {createPatientOutput, type PatientOutput} from '../host/patient-output.js';
import type {App, OpenOptions, OpenWorld} from './contract.js';
import {findSlurm, foreignWorld} from './foreign-engine.js';
import {createLocations} from './locations.js';
import {unpainted, writeError} from './start-up/unopened-output.js';
import {createLineHistory, stateDirectory} from './user-file.js';

type AppOptions = {
	readonly config: Config;
	readonly paint?: Paint | undefined;
	readonly early?: EarlyRuns;
	/** Opens stdout before the first print. `done` describes what was done, and is printed on stderr if stdout cannot be opened. */
	readonly openOutput?: (done?: string) => void;
};

/** Modules are loaded lazily. A loaded module keeps working after an upgrade removes its file. */
const loadGpus = async () => import('./gpus/gpus.js');
const loadNotify = async () => import('./notify.js');
const loadIsolation = async () => import('../host/isolation/isolate.js');
const loadNuma = async () => import('../host/numa.js');
const loadJob = async () => import('../host/job/job.js');
const loadCuda = async () => import('./cuda.js');
const loadMps = async () => import('../host/job/mps.js');

function lazyErrors(): Pick<PatientOutput, 'write' | 'isStalled' | 'takeRest'> {
	let output: ReturnType<typeof createPatientOutput>;
	let isOpened = false;
	const open = (): typeof output => {
		if (!isOpened) {
			isOpened = true;
			output = createPatientOutput(2, () => undefined);
		}

		return output;
	};

	return {
		write(text) {
			const opened = open();
			if (opened === undefined) {
				writeError(text);
			} else {
				opened.write(text);
			}
		},
		isStalled: () => output?.isStalled() ?? false,
		takeRest: () => output?.takeRest() ?? '',
	};
}

export function createApp({config, paint = unpainted, early: runs, openOutput}: AppOptions): App {
	let outsideName: string | undefined;
	const host = createHost({outsideName: () => outsideName});
	const clock = createClock();
	const context = {config, host, clock, locations: createLocations(config, host), early: runs};

	const memoryThresholdMiB = config.get('memory.threshold')!;

	type WorldOptions = {
		readonly providers: Awaited<ReturnType<typeof loadGpus>>;
		readonly store: Store;
		readonly provider: ProviderName;
		readonly scenario: Scenario | undefined;
		readonly early?: GpuProvider;
		readonly details?: OpenOptions['details'];
		/** Whether the command may run for long, so that the pool may be created again meanwhile. */
		readonly isLong?: boolean | undefined;
		readonly simulated?: {readonly processes: SimulatedProcesses; readonly host: Host};
	};

	const worldOf = ({
		providers: {createProvider, watchingProvider},
		store,
		provider,
		scenario,
		early,
		details,
		isLong = false,
		simulated,
	}: WorldOptions): OpenWorld => {
		const worldHost = simulated?.host ?? host;
		const worldContext = {...context, host: worldHost, store, scenario, simulatedProcesses: simulated?.processes};
		const scanner = early?.name === provider ? early : createProvider(provider, {...worldContext, details});
		// A short command uses the pool as it was when the command opened it.
		const own = (one: GpuProvider): GpuProvider => (isLong ? onlyForPool(one, store) : one);
		const gpus = own(scanner);
		const watching = new Set<GpuProvider>();
		const deviceRoot = provider === 'fake' ? scenario?.devices : '/';
		return {
			store,
			gpus,
			host: worldHost,
			clock,
			memoryThresholdMiB,
			async watchGpus(intervalMs) {
				const {createSharedGpus} = await import('../core/live/shared-scanner.js');
				const createScanner = await watchingProvider(provider, worldContext, intervalMs);
				const shared = createSharedGpus({
					store,
					host: worldHost,
					clock,
					name: provider,
					memoryThresholdMiB,
					intervalMs,
					createScanner: () => own(createScanner()),
				});
				const watched: GpuProvider = {
					...shared,
					async close() {
						watching.delete(watched);
						await shared.close?.();
					},
				};
				watching.add(watched);
				return watched;
			},
			async findDeviceHolders(gpu, pids) {
				const {findDeviceHolders} = await import('../host/process/device-holders.js');
				return findDeviceHolders(gpu, pids, deviceRoot);
			},
			async prepareIsolation() {
				const {createIsolate} = await loadIsolation();
				return createIsolate({root: deviceRoot, environment: process.env});
			},
			async prepareNumaBinding() {
				const {createBindToNodes} = await loadNuma();
				return createBindToNodes({root: deviceRoot ?? '/', environment: process.env});
			},
			async close() {
				await Promise.all([gpus, ...watching].map(async (each) => each.close?.()));
				await store.close();
			},
		};
	};

	/** Wraps the store of a long-running command. If the store loses its data, the wrapper writes back what it last read. */
	const restoring = async (store: Store): Promise<Store> => {
		const {createRestoringStore} = await import('../core/live/restoring-store.js');
		return createRestoringStore(store, {host, clock});
	};

	const openDemo = async (): Promise<OpenWorld> => {
		const [gpus, {createDemo}, {demoScenarioFor}, {createSimulatedProcesses}] = await Promise.all([
			loadGpus(),
			import('../demo/demo.js'),
			import('../demo/scenario.js'),
			import('../gpu/simulated/processes.js'),
		]);
		const {account} = requesterOf(host.account);
		const processes = createSimulatedProcesses(account);
		const demoHost = processes.hostOver(host);
		const scenario = (await gpus.scenarioOf('fake', config)) ?? demoScenarioFor(account);
		const demoContext = {...context, host: demoHost, scenario, simulatedProcesses: processes};
		const demo = await createDemo({
			host: demoHost,
			clock,
			scenario,
			now: () => Date.now() / 1000,
			gpusOver: (store) => gpus.createProvider('fake', {...demoContext, store}),
			memoryThresholdMiB,
		});
		const world = worldOf({
			providers: gpus,
			store: demo.store,
			provider: 'fake',
			scenario,
			simulated: {processes, host: demoHost},
		});
		return {
			...world,
			simulatedProcesses: {inspectProcesses: processes.inspect, sendSignal: processes.signal},
			async close() {
				await demo.close();
				await world.close();
			},
		};
	};

	let slurm: ReturnType<typeof findSlurm> | undefined;
	const foreign = async (): ReturnType<typeof findSlurm> => {
		slurm ??= findSlurm(context);
		return slurm;
	};

	const open = async (options: OpenOptions = {}): Promise<OpenWorld> => {
		if (options.isDemo) {
			return openDemo();
		}

		if (options.isEmpty) {
			const {createMemoryStore} = await import('../store/memory/index.js');
			const store = {...createMemoryStore(), location: 'this computer'};
			return worldOf({providers: await loadGpus(), store, provider: 'fake', scenario: undefined});
		}

		const cluster = await foreign();
		if (cluster !== undefined) {
			return foreignWorld(cluster, {host, clock, memoryThresholdMiB});
		}

		const {details} = options;
		const [gpus, {openStore}] = await Promise.all([loadGpus(), import('./stores.js')]);
		const early = options.willScan === true ? gpus.scanEarly({...context, details}) : undefined;
		let store: Store | undefined;
		try {
			const opened = await openStore(context, options, async () => gpus.detectGpus(undefined, context));
			({store} = opened);
			if (options.keepReconnecting === true) {
				store = await restoring(store);
			}

			const snapshot = await store.read();
			const {pool} = snapshot;
			outsideName = provenAccount(snapshot, host);
			if (early?.name !== pool?.provider) {
				await early?.close?.();
			}

			// If there is no pool, the command fails, or waits for a pool and checks its provider.
			const provider = pool?.provider ?? 'fake';
			return {
				...opened,
				...worldOf({
					providers: gpus,
					store,
					provider,
					early,
					details,
					isLong: options.keepReconnecting === true,
					scenario: await gpus.scenarioOf(provider, config),
				}),
			};
		} catch (error) {
			await early?.close?.();
			await store?.close();
			throw error;
		}
	};

	const prepareJob: App['prepareJob'] = async (words, environment, when) => {
		const {startJob, checkJob, restoreOpenFiles} = await loadJob();
		checkJob(words, environment);
		if (when === 'later') {
			void restoreOpenFiles();
		}

		return startJob;
	};

	const errors = lazyErrors();
	return {
		host,
		clock,
		requester: (label) => requesterOf(host.account, label),
		open,
		foreignEngine: async () => (await foreign())?.engine,
		async adjustPool(isGroupAsked) {
			const {adjustPool} = await import('./pool-location.js');
			return adjustPool(context, isGroupAsked);
		},
		async openPoolLocation() {
			const {openPoolLocation} = await import('./pool-location.js');
			return openPoolLocation(context);
		},
		async detect(provider) {
			const {detectGpus} = await loadGpus();
			return detectGpus(provider, context);
		},
		paint,
		print(text, done) {
			openOutput?.(done);
			process.stdout.write(`${text}\n`);
		},
		remark(text) {
			writeError(`${errors.takeRest()}${text}\n`);
		},
		refuseMessages: () => refuseMessages(1),
		openPatientOutput: (failed) => createPatientOutput(1, failed),
		progress(text) {
			errors.write(`${text}\n`);
		},
		// Does not use process.stdin, because that would start reading input that is meant for the job.
		isTerminal: isatty(0) && isatty(1),
		get columns() {
			return columnsOf(process.stdout, process.env);
		},
		liveErrors:
			isatty(2) && process.env['TERM'] !== 'dumb'
				? {
						write(text) {
							// While the reader is stalled, drops a line that will be redrawn soon anyway.
							if (!errors.isStalled()) {
								errors.write(text);
							}
						},
						columns: () => process.stderr.columns,
					}
				: undefined,
		environment: process.env,
		async remoteStatus(name, signal) {
			const {remoteStatus} = await import('../host/tool/ssh.js');
			return remoteStatus(name, signal);
		},
		async remoteReport(name, days, by) {
			const {remoteReport} = await import('../host/tool/ssh.js');
			return remoteReport(name, days, by);
		},
		async loadAhead(details) {
			// Must load every module that is imported lazily while a job runs, while `run` or `reserve` waits for GPUs, or after `run` has waited to start.
			await Promise.allSettled([
				loadNotify(),
				loadIsolation(),
				loadNuma(),
				loadJob(),
				loadCuda(),
				loadMps(),
				details === undefined ? undefined : import('../gpu/nvidia/xml.js'),
			]);
		},
		async isKnownName({kind, name}) {
			return kind === 'group' ? knowsGroup(name) : createUsers().knows(name);
		},
		async notify(notice, signal) {
			try {
				const {notifyBy} = await loadNotify();
				return await notifyBy(config, host, notice, signal);
			} catch (error) {
				return [messageOf(error)];
			}
		},
		async loadNotices() {
			const {createNotices} = await loadNotify();
			return createNotices(config, host);
		},
		async loadDetaching() {
			const [
				{checkDetachable, startDetached},
				{readLogoutSurvival},
				{logFor, prepareLogs, readLog, readLogEnd, sealOf, sizeOfLog},
				{endOrphan},
			] = await Promise.all([
				import('../host/job/detach.js'),
				import('../host/job/logout.js'),
				import('../host/job/job-log.js'),
				import('../host/job/end-orphan.js'),
			]);
			const directory = (): string => {
				const state = stateDirectory();
				if (state === undefined) {
					throw new CanhazgpuError('failed', 'This account has no home directory for the output of jobs', {
						hint: 'Set HOME or XDG_STATE_HOME to a directory of your own.',
					});
				}

				return path.join(state, 'jobs');
			};

			return {
				prepareLogs() {
					prepareLogs(directory());
				},
				logFor: (id) => logFor(directory(), id),
				openLog: readLog,
				readLogEnd,
				sizeOfLog,
				seal: (content) => sealOf(directory(), content),
				checkDetachable,
				start: startDetached,
				endOrphan,
				readLogoutSurvival,
			};
		},
		interruption: listenForInterruption,
		async openPrivateDirectory() {
			const {openPrivateDirectory} = await import('./private-directory.js');
			return openPrivateDirectory(host);
		},
		async loadCallerCheck() {
			const {loadPeerUid} = await import('../host/accounts/peer.js');
			const peerUid = await loadPeerUid();
			const own = process.geteuid?.();
			return (socket) => {
				const uid = peerUid?.(socket);
				return uid === undefined || uid === own;
			};
		},
		outliveBugs(report) {
			const listener = (error: unknown): void => {
				report(error);
			};

			process.on('uncaughtException', listener);
			process.on('unhandledRejection', listener);
		},
		async inspectProcesses(pids) {
			const {inspectProcesses} = await import('../host/process/inspect.js');
			return inspectProcesses(pids);
		},
		sendSignal,
		lineHistory: createLineHistory(context.locations.lineHistory),
		closedMachineConfig: () =>
			existsSync(usualMachineFile) && findClosedPart(usualMachineFile) !== undefined ? usualMachineFile : undefined,
		closedProgram() {
			const {execPath, argv, versions} = process;
			const file = realpathSync(versions['bun'] === undefined ? argv[1]! : execPath);
			const directory = path.dirname(path.dirname(file));
			// Other accounts start the program by its link, which is often in another directory.
			const typed = lookUpCommand('canhazgpu', process.env);
			const needed = [file, execPath, ...(typed.kind === 'found' ? [typed.file] : [])];
			const part = needed.map((each) => findClosedPart(each)).find((closed) => closed !== undefined);
			return part === undefined ? undefined : {part, directory};
		},
		async readEnvironment() {
			const {readEnvironment} = await import('../host/environment.js');
			return readEnvironment(stateDirectory(), host.account.name);
		},
		async checkIsolation() {
			const {checkIsolation} = await loadIsolation();
			return checkIsolation(process.env);
		},
		async prepareCuda(version) {
			const cuda = await loadCuda();
			return cuda.prepareCuda(version);
		},
		async findMpsDaemon() {
			const {findMpsDaemon} = await loadMps();
			return findMpsDaemon(process.env, process.getuid!());
		},
		async remoteQueue(name, signal) {
			const {remoteQueue} = await import('../host/tool/ssh.js');
			return remoteQueue(name, signal);
		},
		async followHost(name, onStatus, signal) {
			const {followRemoteStatus} = await import('../host/tool/follow-status.js');
			return followRemoteStatus(name, onStatus, signal);
		},
		async callOnHost(call) {
			const {callOnHost} = await import('../host/tool/remote-command.js');
			return callOnHost(call);
		},
		async runOnHost(command, patience) {
			const {runOnHost} = await import('./run-on-host.js');
			return runOnHost(command, patience, prepareJob);
		},
		prepareJob,
	};
}
