/** Implements `canhazgpu web`. The page is read-only, unless the server may make changes for the account that runs it. */
import {randomBytes} from 'node:crypto';
import type {Socket} from 'node:net';
import type {Clock, World} from '../core/model/ports.js';
import {heldUseOf} from '../core/operations/history/held-use.js';
import {occupancyOf} from '../core/operations/history/occupancy.js';
import {CanhazgpuError} from '../errors.js';
import {createNextRead} from '../core/live/live-view.js';
import type {JobRow} from '../core/rules/jobs/rows.js';
import {countUserSeconds} from '../core/live/user-seconds.js';
import {heldUseJson} from '../format/tables/held-use.js';
import {limitsFor} from '../core/operations/limits.js';
import {defaultSeconds} from '../core/rules/limits/limits.js';
import {createActor, type ActorOptions} from './act/actions.js';
import {createSessions} from './act/sessions.js';
import type {ShownCommands} from './api/commands.js';
import {jobsJson} from './api/jobs-json.js';
import {createRemoteHosts, type HostOptions} from './api/hosts.js';
import {createMetrics} from './api/metrics.js';
import {occupancyJson} from './api/occupancy-json.js';
import {createReports, fromCommandReport, type ReportQuestion} from './api/reports.js';
import {openLocalPool, type OpenPool} from './pool.js';
import {hostnameOf} from './server/guard.js';
import {createRoutes, type HoursQuestion} from './server/routes.js';
import {startServer} from './server/server.js';
import {createStreams} from './server/stream.js';
import {createKeptLoads} from './api/kept-loads.js';
import {recordUtilization} from './api/utilization-json.js';

export const watchedMs = 2000;
/** Time in ms between scans while no page is open. These scans are needed for the history of utilization. */
const unwatchedMs = 10_000;
const mostEvents = 200;

export type MineAddress = {
	/** Path of the socket, in a directory of mode 0700. */
	readonly socketPath: string;
	/** Whether the account of this server is at the other end of the socket. */
	readonly admits: (socket: Socket) => boolean;
	readonly account: string;
	readonly requester: ActorOptions['requester'];
	readonly jobs: ActorOptions['jobs'];
	readonly served: ActorOptions['served'];
	readonly left: ActorOptions['left'];
	readonly opened: () => void;
	/** Called when the server can answer requests. `newLink` creates a sign-in link to the page. */
	readonly ready: (newLink: () => string) => void;
};

type WebOptions = {
	/** Opens the pool. Called when the server is already listening. The pool may reuse the scans of other monitors and dashboards. */
	readonly open: () => Promise<OpenPool>;
	/** Whether the server keeps running, and retries, after this error. */
	readonly goesOnWithout: (error: CanhazgpuError) => boolean;
	readonly clock: Clock;
	readonly address: MineAddress | {readonly host: string; readonly port: number};
	readonly allowedHosts: readonly string[];
	readonly hostname: string;
	readonly version: string;
	readonly isDemo: boolean;
	readonly remoteHosts: readonly string[];
	readonly remoteStatus: HostOptions['ask'];
	readonly hostsIntervalMs: number;
	readonly commands: ShownCommands;
	/** Returns everybody's jobs that have not ended or ended in the last day, without private details. */
	readonly jobs: (world: World) => Promise<{readonly rows: readonly JobRow[]; readonly now: number}>;
	readonly report: (world: World, question: Omit<ReportQuestion, 'host'>) => Promise<Record<string, unknown>>;
	readonly remoteReport: (host: string, days: number, by: string) => Promise<Readonly<Record<string, unknown>>>;
	readonly signal: AbortSignal;
	readonly listening: (url: string | undefined) => void;
	readonly complain: (error: unknown) => void;
};

const anyAddress = new Set(['0.0.0.0', '::']);

const urlOf = (host: string, hostname: string, port: number): string => {
	const shown = anyAddress.has(host) ? hostname : host;
	return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}/`;
};

const loopbackNames = ['localhost', '127.0.0.1', '::1'];

const namesOf = ({address, hostname, allowedHosts}: WebOptions): ReadonlySet<string> =>
	new Set(
		('port' in address
			? [...loopbackNames, hostname, hostname.split('.', 1)[0]!, address.host, ...allowedHosts]
			: loopbackNames
		)
			.filter((name) => !anyAddress.has(name))
			// An IPv6 address without brackets is not valid in a Host header.
			.map((name) => hostnameOf(name) ?? name.toLowerCase()),
	);

export async function runWeb(options: WebOptions): Promise<void> {
	const routes = Promise.withResolvers<ReturnType<typeof createRoutes>>();
	const server = await startServer(options.address, routes.promise);
	const ends: Array<() => unknown> = [async () => server.close()];
	try {
		const ended = Promise.withResolvers<void>();
		const {clock, commands, address} = options;
		const mine = 'port' in address ? undefined : address;
		const pool = await openLocalPool({
			open: options.open,
			goesOnWithout: options.goesOnWithout,
			clock,
			live: {
				intervals: {watchedMs, unwatchedMs},
				mostEvents,
				recordsAlerts: true,
				endsOnLastingError: true,
				broken: ended.reject,
			},
		});
		ends.unshift(async () => pool.close());
		const {liveView} = pool;
		const hosts = createRemoteHosts({
			names: options.remoteHosts,
			ask: options.remoteStatus,
			clock,
			commands,
			roundMs: options.hostsIntervalMs,
			broken: options.complain,
		});
		ends.unshift(hosts.stop);
		/** Returns how long a reservation lasts by default. Undefined for a read-only page. */
		const usualSeconds = (): number | undefined => {
			const world = pool.opened();
			const {snapshot} = liveView.current();
			return mine === undefined || world === undefined || snapshot === undefined
				? undefined
				: defaultSeconds(limitsFor(world, snapshot, mine.requester()));
		};

		const streams = createStreams({
			liveView,
			hosts,
			about: () => ({
				host: options.hostname,
				version: options.version,
				location: pool.opened()?.store.location,
				privateLabel: pool.opened()?.privateLabel,
				engine: pool.opened()?.engine?.name,
				lacks: pool.opened()?.engine?.lacks,
				isDemo: options.isDemo,
				hasPool: pool.isExpected(),
				hosts: [...(pool.isExpected() ? [options.hostname] : []), ...hosts.names],
				actsAs: mine?.account,
				usualSeconds: usualSeconds(),
			}),
			commands,
			monotonicMs: clock.monotonicMs,
		});
		ends.unshift(streams.close);
		const report = async ({host, ...question}: ReportQuestion): Promise<Record<string, unknown>> => {
			if (question.by === 'model' && commands !== 'full') {
				throw new CanhazgpuError('usage', 'The report by model is available only with web.commands: full');
			}

			return host === undefined
				? options.report(await pool.world(), question)
				: fromCommandReport(host, await options.remoteReport(host, question.days, question.by));
		};

		const newestEvent = () => liveView.current().events.at(-1)?.id;
		const sessions = createSessions({
			monotonicMs: clock.monotonicMs,
			secret: () => randomBytes(24).toString('base64url'),
		});
		const actor =
			mine &&
			createActor({
				world: pool.actingWorld,
				requester: mine.requester,
				jobs: mine.jobs,
				monotonicMs: clock.monotonicMs,
				served: mine.served,
				left: mine.left,
				failed: options.complain,
			});
		if (actor !== undefined) {
			ends.unshift(actor.close);
		}

		const use = recordUtilization(liveView);
		routes.resolve(
			createRoutes({
				acting: mine && actor && {account: mine.account, sessions, actor, opened: mine.opened},
				names: namesOf(options),
				hostname: options.hostname,
				liveView,
				streams,
				reports: createReports(report, clock.monotonicMs, newestEvent),
				occupancy: createReports(
					async ({hours}: HoursQuestion) => occupancyJson(await occupancyOf(await pool.world(), hours)),
					clock.monotonicMs,
					newestEvent,
				),
				jobs: createNextRead(async () => jobsJson(await options.jobs(await pool.world()), commands)),
				heldUse: createReports(
					async ({hours}: HoursQuestion) => heldUseJson(await heldUseOf(await pool.world(), hours, use.nameOf)),
					clock.monotonicMs,
					newestEvent,
				),
				commands,
				hasPool: pool.isExpected,
				hosts,
				metrics: createMetrics({
					liveView,
					userSeconds: countUserSeconds(liveView, clock.monotonicMs),
					streams: streams.count,
					hasPool: pool.isExpected,
					version: options.version,
				}),
				use,
				keptLoads: createKeptLoads(pool.world, clock.monotonicMs),
				broken: options.complain,
			}),
		);
		options.listening('port' in address ? urlOf(address.host, options.hostname, server.port) : undefined);
		mine?.ready(sessions.newLink);
		if (options.signal.aborted) {
			return;
		}

		options.signal.addEventListener('abort', () => {
			ended.resolve();
		});
		await ended.promise;
	} finally {
		for (const end of ends) {
			await end();
		}
	}
}
