/** Focus and scroll positions of the panels, and data that a single panel has read. */
import type {Past} from '../../../core/operations/history/past.js';
import type {Report} from '../../../core/rules/pool/report.js';

export const panelNames = ['table', 'detail', 'queue', 'report', 'events', 'processes', 'hosts'] as const;

export type PanelName = (typeof panelNames)[number];

/** Panels that show a table of rows. Their view follows the selected row. */
export type TableName = Extract<PanelName, 'table' | 'queue' | 'processes' | 'hosts'>;

/** Panels that scroll by lines. */
export type ScrollingPanel = Exclude<PanelName, TableName>;

export const reportKinds = ['user', 'gpu', 'day', 'model'] as const;

export type ReportKind = (typeof reportKinds)[number];

/** How far back the graphs of a GPU may go, in minutes. */
export const pastRanges = [5, 60, 360, 1440] as const;

export type PastRange = (typeof pastRanges)[number];

export type PanelsState = {
	readonly focus: PanelName;
	/** Whether the focused panel has the whole screen. */
	readonly isZoomed: boolean;
	/** First line shown. */
	readonly scroll: Readonly<Record<ScrollingPanel, number>>;
	/** Whether processes are shown as a tree, each below its parent. */
	readonly isTree: boolean;
	readonly reportBy: ReportKind;
	readonly reportDays: ReportDays;
	/** Time range of the detail panel's graphs, in minutes. */
	readonly range: PastRange;
	/** Can be any integer, because the pages wrap around. */
	readonly helpPage: number;
};

export const initialPanels: PanelsState = {
	focus: 'table',
	isZoomed: false,
	scroll: {detail: 0, report: 0, events: 0},
	isTree: false,
	reportBy: 'user',
	reportDays: 30,
	range: 5,
	helpPage: 0,
};

/** The load history from the store, or the reason why it could not be read. */
export type ShownPast =
	{readonly kind: 'read'; readonly past: Past} | {readonly kind: 'failed'; readonly reason: string};

/** The range that the monitor's own samples cover. All other ranges are read from the store. */
export const ownRange: PastRange = 5;

/** Returns a range such as `6h`. */
export const rangeWord = (range: PastRange): string => (range < 60 ? `${range}m` : `${range / 60}h`);

/** Days that the report can cover. */
export const reportPeriods = [1, 7, 30, 90] as const;

export type ReportDays = (typeof reportPeriods)[number];

type ReportOf = {readonly by: ReportKind; readonly days: ReportDays};

/** A report, or the reason why it could not be made. */
export type ShownReport =
	| (ReportOf & {readonly kind: 'made'; readonly report: Report})
	| (ReportOf & {readonly kind: 'failed'; readonly reason: string});
