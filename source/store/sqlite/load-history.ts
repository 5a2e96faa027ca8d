/** How busy the GPUs were, among the values of the pool: a row for each hour. It is no event, so it wakes no one. */
import type {LoadHistory} from '../../core/model/ports.js';
import {hoursBetween, oldestLoadHour} from '../load-hours.js';
import type {Database} from './database.js';
import type {poolStatements} from './statements.js';

/** Six digits until the year 2084. */
const nameOf = (hour: number): string => `load:${String(hour).padStart(6, '0')}`;

export const createLoadHistory = (database: Database<keyof typeof poolStatements>): LoadHistory => ({
	async append(hour, line) {
		await database.write((statements) => {
			statements.trimLoads.run(nameOf(oldestLoadHour(hour)), nameOf(hour));
			statements.appendLoad.run(nameOf(hour), `${line}\n`);
			return {isKept: true, result: undefined};
		});
	},
	async read(fromHour, toHour) {
		return database.read(
			(statements) =>
				new Map(
					hoursBetween(fromHour, toHour).flatMap((hour) => {
						const text = statements.loadHour.get(nameOf(hour))?.['raw'];
						return typeof text === 'string' ? [[hour, text] as const] : [];
					}),
				),
		);
	},
});
