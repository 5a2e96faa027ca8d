/** The strategies by name. */
import {leastRecentlyReleased} from './least-recently-released.js';
import {mostRecentUserFirst} from './most-recent-user-first.js';
import type {Strategy} from './strategy.js';

export const strategies = {
	mru: mostRecentUserFirst,
	lru: leastRecentlyReleased,
} satisfies Readonly<Record<string, Strategy>>;

export type StrategyName = keyof typeof strategies;

export const strategyNames = Object.keys(strategies) as readonly StrategyName[];
