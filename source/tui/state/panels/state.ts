/** Which panel has the focus, how each is scrolled and sorted, and what was read for one alone. */
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
	/** The panel with the focus has the screen to itself. */
	readonly isZoomed: boolean;
	/** First line shown. */
	readonly scroll: Readonly<Record<ScrollingPanel, number>>;
	/** Processes as a tree: each below the one that started it. */
	readonly isTree: boolean;
	readonly reportBy: ReportKind;
	readonly reportDays: ReportDays;
	/** Minutes in the graphs of the detail. */
	readonly range: PastRange;
	/** Any whole number: they go round and round. */
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

/** The past of the pool that was read, or why it could not be. */
export type ShownPast =
	{readonly kind: 'read'; readonly past: Past} | {readonly kind: 'failed'; readonly reason: string};

/** The range that the monitor sees for itself: all others are read from the store. */
export const ownRange: PastRange = 5;

/** Such as `6h`. */
export const rangeWord = (range: PastRange): string => (range < 60 ? `${range}m` : `${range / 60}h`);

/** How far back the report can go, in days. */
export const reportPeriods = [1, 7, 30, 90] as const;

export type ReportDays = (typeof reportPeriods)[number];

/** The question that a report answers. */
type ReportOf = {readonly by: ReportKind; readonly days: ReportDays};

/** A report that was made, or why it could not be. */
export type ShownReport =
	| (ReportOf & {readonly kind: 'made'; readonly report: Report})
	| (ReportOf & {readonly kind: 'failed'; readonly reason: string});
