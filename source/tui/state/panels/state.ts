/** The focus, the scroll positions of the panels, and the data that only one panel needs. */
import type {Past} from '../../../core/operations/history/past.js';
import type {Report} from '../../../core/rules/pool/report.js';

/** The titles of the panels, in the order of the keys 1 to 8. */
export const panelTitles = {
	gpus: 'GPUs',
	detail: 'Detail',
	queue: 'Queue',
	report: 'Report',
	events: 'Events',
	processes: 'Processes',
	hosts: 'Hosts',
	jobs: 'Jobs',
} as const;

export type PanelName = keyof typeof panelTitles;

export const panelNames = Object.keys(panelTitles) as readonly PanelName[];

/** Panels with a table of rows. They scroll so that the selected row stays in view. */
export type TableName = Extract<PanelName, 'gpus' | 'queue' | 'processes' | 'hosts' | 'jobs'>;

/** Panels that are scrolled by lines, because they have no selected row. */
export type ScrollingPanel = Exclude<PanelName, TableName>;

export const reportKinds = ['user', 'gpu', 'day', 'model'] as const;

export type ReportKind = (typeof reportKinds)[number];

/** The time ranges that the user can choose for graphs, in minutes. */
export const pastRanges = [5, 60, 360, 1440] as const;

export type PastRange = (typeof pastRanges)[number];

export type PanelsState = {
	readonly focus: PanelName;
	readonly isZoomed: boolean;
	/** The first line that each panel shows. */
	readonly scroll: Readonly<Record<ScrollingPanel, number>>;
	/** Whether processes are shown as a tree, in which each is below its parent. */
	readonly isTree: boolean;
	readonly reportBy: ReportKind;
	readonly reportDays: ReportDays;
	readonly range: PastRange;
	/** The page of the help. It can be any integer, because the first page follows the last one. */
	readonly helpPage: number;
};

export const initialPanels: PanelsState = {
	focus: 'gpus',
	isZoomed: false,
	scroll: {detail: 0, report: 0, events: 0},
	isTree: false,
	reportBy: 'user',
	reportDays: 30,
	range: 5,
	helpPage: 0,
};

export type ShownPast =
	{readonly kind: 'read'; readonly past: Past} | {readonly kind: 'failed'; readonly reason: string};

/** The time range for which the monitor's own samples are enough. For longer ranges, the monitor reads the store. */
export const ownRange: PastRange = 5;

export const rangeWord = (range: PastRange): string => (range < 60 ? `${range}m` : `${range / 60}h`);

/** The periods of the report, in days. */
export const reportPeriods = [1, 7, 30, 90] as const;

export type ReportDays = (typeof reportPeriods)[number];

type ReportOf = {readonly by: ReportKind; readonly days: ReportDays};

export type ShownReport =
	| (ReportOf & {readonly kind: 'made'; readonly report: Report})
	| (ReportOf & {readonly kind: 'failed'; readonly reason: string});
