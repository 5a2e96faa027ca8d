/** The report as the monitor shows it. */

import type {Report} from '../../core/rules/pool/report.js';
import type {ReportKind} from './panels/state.js';

/** How far back the report goes. */
export const reportDays = 30;

/** A report that was made, or why it could not be. */
export type ShownReport =
	| {readonly kind: 'made'; readonly by: ReportKind; readonly report: Report}
	| {readonly kind: 'failed'; readonly by: ReportKind; readonly reason: string};

export type ReportUpdate = {readonly kind: 'report-arrived'; readonly report: ShownReport};
