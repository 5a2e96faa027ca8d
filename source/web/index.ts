/** `canhazgpu web`: the picture of the pool in a browser, read-only. */
import type {Clock, World} from '../core/model/ports.js';
import type {CanhazgpuError} from '../errors.js';
import type {ShownCommands} from './api/commands.js';
import {createRemoteHosts, type HostOptions} from './api/hosts.js';
import {createMetrics} from './api/metrics.js';
import {fromCommandReport} from './api/remote-report.js';
import {createReports, type MakeReport} from './api/reports.js';
import {openLocalPool, type OpenPool} from './pool.js';
import {createRoutes} from './server/routes.js';
import {startServer} from './server/server.js';
import {createStreams} from './server/stream.js';
import {recordUtilization} from './api/utilization-json.js';

/** From one scan to the next while a page is open. */
export const watchedMs = 2000;
/** While none is, for the history of utilization. */
const unwatchedMs = 10_000;
/** A page that opens is shown so many. */
const mostEvents = 200;

export type WebOptions = {
	/** Asked for once the port is had. Its GPUs may be seen through the eyes of other viewers. */
	readonly open: () => Promise<OpenPool>;
	/** Whether the server goes on, and tries again, where the pool cannot be opened for this reason. */
	readonly goesOnWithout: (error: CanhazgpuError) => boolean;
	readonly clock: Clock;
	readonly address: {readonly host: string; readonly port: number};
	/** More names under which this server is reached. */
	readonly allowedHosts: readonly string[];
	readonly hostname: string;
	readonly version: string;
	readonly isDemo: boolean;
	readonly remoteHosts: readonly string[];
	readonly remoteStatus: HostOptions['ask'];
	/** How often the other hosts are asked while somebody watches them. */
	readonly hostsIntervalMs: number;
	/** How much of command lines is shown. */
	readonly commands: ShownCommands;
	readonly report: (world: World, days: number, by: string) => Promise<Record<string, unknown>>;
	readonly remoteReport: (host: string, days: number, by: string) => Promise<Readonly<Record<string, unknown>>>;
	/** Aborted when it shall end. */
	readonly signal: AbortSignal;
	readonly listening: (url: string) => void;
	/** Told of a bug that only one request met. */
	readonly complain: (error: unknown) => void;
};

/** Addresses that stand for all of a machine's. */
const anyAddress = new Set(['0.0.0.0', '::']);

const urlOf = (host: string, hostname: string, port: number): string => {
	const shown = anyAddress.has(host) ? hostname : host;
	return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}/`;
};

const namesOf = ({address, hostname, allowedHosts}: WebOptions): ReadonlySet<string> =>
	new Set(
		['localhost', '127.0.0.1', '::1', hostname, hostname.split('.', 1)[0]!, address.host, ...allowedHosts]
			.filter((name) => !anyAddress.has(name))
			.map((name) => name.toLowerCase()),
	);

/** Serves until it is told to end. Rejects with whatever broke it. */
export async function runWeb(options: WebOptions): Promise<void> {
	const routes = Promise.withResolvers<ReturnType<typeof createRoutes>>();
	const server = await startServer(options.address, routes.promise);
	const ends: Array<() => unknown> = [async () => server.close()];
	try {
		const ended = Promise.withResolvers<void>();
		const {clock, commands} = options;
		const pool = await openLocalPool({
			open: options.open,
			goesOnWithout: options.goesOnWithout,
			clock,
			live: {intervals: {watchedMs, unwatchedMs}, mostEvents, recordsAlerts: true, broken: ended.reject},
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
		const streams = createStreams({
			liveView,
			hosts,
			about: () => ({
				host: options.hostname,
				version: options.version,
				location: pool.opened()?.store.location,
				privateLabel: pool.opened()?.privateLabel,
				isDemo: options.isDemo,
				hasPool: pool.isExpected(),
				hosts: [...(pool.isExpected() ? [options.hostname] : []), ...hosts.names],
			}),
			commands,
			monotonicMs: clock.monotonicMs,
		});
		ends.unshift(streams.close);
		const report: MakeReport = async ({host, days, by}) =>
			host === undefined
				? options.report(await pool.world(), days, by)
				: fromCommandReport(host, await options.remoteReport(host, days, by));
		routes.resolve(
			createRoutes({
				names: namesOf(options),
				hostname: options.hostname,
				liveView,
				streams,
				reports: createReports(report, clock.monotonicMs),
				commands,
				hasPool: pool.isExpected,
				hosts,
				metrics: createMetrics({liveView, streams: streams.count, version: options.version}),
				use: recordUtilization(liveView),
				broken: options.complain,
			}),
		);
		options.listening(urlOf(options.address.host, options.hostname, server.port));
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
