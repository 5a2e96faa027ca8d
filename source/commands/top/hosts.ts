/** Implements `:host` in the monitor: shows all hosts with their free GPUs, or one host in full, and refreshes the answer while it is shown. */
import {watchHosts, type KnownHost} from '../../core/live/host-watch.js';
import type {Clock} from '../../core/model/ports.js';
import {isRemoteHost} from '../../core/model/other-hosts.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {roughDuration} from '../../format/text/durations.js';
import {hostList, hostTable, type JsonRow} from '../../format/tables/host-tables.js';
import {createPaint} from '../../format/text/paint.js';
import {stateText} from '../../format/states.js';
import {sanitize} from '../../format/text/text.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {LiveOutput, LiveOutputPage, LiveOutputTone} from '../../tui/ports.js';
import {localRows} from '../shared/hosts/local-rows.js';

type Known = KnownHost<readonly JsonRow[]>;

export type HostOutputs = {
	readonly own: string | undefined;
	readonly names: readonly string[];
	readonly all: LiveOutput;
	readonly one: (name: string) => LiveOutput;
	readonly stop: () => void;
};

type Options = {
	readonly app: App;
	/** Undefined if this host has no pool. */
	readonly world: OpenWorld | undefined;
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	readonly others: readonly string[];
	readonly broken: (error: unknown) => void;
};

const roundMs = 10_000;
const plain = createPaint(false, {});

const headLines = 2;

function listPage(names: readonly string[], known: readonly Known[]): LiveOutputPage {
	const hosts = names.map((host) => ({host, answer: known.find(({name}) => name === host)?.answer}));
	return {
		lines: [
			...hostList(hosts, plain).split('\n'),
			...(names.length > 1 ? [] : ['', 'Name other hosts in the setting remote_hosts to see them here.']),
		],
		opens: new Map(names.map((name, index) => [headLines + index, `host ${name}`])),
	};
}

const tones: Readonly<Record<string, LiveOutputTone>> = {
	[stateText.available]: 'free',
	[stateText['in-use']]: 'others',
	[stateText.unreserved]: 'warning',
	[stateText.error]: 'error',
};

const tonesOf = (rows: readonly JsonRow[]): ReadonlyMap<number, LiveOutputTone> =>
	new Map(
		rows.flatMap(({status}, index) => {
			const tone = typeof status === 'string' && Object.hasOwn(tones, status) ? tones[status] : undefined;
			return tone === undefined ? [] : [[headLines + index, tone] as const];
		}),
	);

function hostPage(name: string, host: Known | undefined, nowMs: number): LiveOutputPage {
	if (host === undefined) {
		return {lines: [`Asking ${name}…`]};
	}

	const table = (rows: readonly JsonRow[]): readonly string[] => hostTable(rows, plain).split('\n');
	if ('status' in host.answer) {
		return {lines: table(host.answer.status), tones: tonesOf(host.answer.status)};
	}

	const {before} = host;
	const problem = `✗ ${sanitize(host.answer.error)}`;
	return before === undefined
		? {lines: [problem]}
		: {
				lines: [
					problem,
					'',
					`${roughDuration((nowMs - before.answeredMs) / 1000)} ago, the status was:`,
					...table(before.answer.status),
				],
			};
}

export function createHostOutputs({app, world, clock, others, broken}: Options): HostOutputs {
	const own = world === undefined ? undefined : app.host.hostname;
	const names = [...(own === undefined ? [] : [own]), ...others];
	const watch = watchHosts<readonly JsonRow[]>({
		names,
		clock,
		roundMs,
		broken,
		ask: async (name, signal) =>
			name === own && world !== undefined ? localRows(world) : app.remoteStatus(name, signal),
	});

	const outputOf = (wanted: readonly string[], draw: (known: readonly Known[]) => LiveOutputPage): LiveOutput => ({
		begin(show) {
			const update = (): void => {
				show(draw(watch.known()));
			};

			update();
			return watch.subscribe(update, wanted);
		},
	});

	return {
		own,
		names,
		all: outputOf(names, (known) => listPage(names, known)),
		one(name) {
			if (names.includes(name)) {
				return outputOf([name], (known) =>
					hostPage(
						name,
						known.find((host) => host.name === name),
						clock.monotonicMs(),
					),
				);
			}

			if (!isRemoteHost(name)) {
				throw new CanhazgpuError('usage', `${quoted(name)} is not a host name`, {
					hint: 'To see all hosts, type host without a name.',
				});
			}

			throw new CanhazgpuError('usage', `There is no host ${name} in the setting remote_hosts`, {
				hint: `To see all hosts, type host without a name. To ask this host: status --remote ${name}`,
			});
		},
		stop: watch.stop,
	};
}
