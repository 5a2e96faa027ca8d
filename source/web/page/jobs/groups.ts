import type {Job} from '../fields.js';

export const groupTitles = {running: 'Running', waiting: 'Waiting', ended: 'Ended'} as const;

export type Group = keyof typeof groupTitles;

const groupsOfActive: Readonly<Partial<Record<Job['state'], Group>>> = {
	running: 'running',
	pending: 'waiting',
	queued: 'waiting',
};

export const groupOf = ({state}: Job): Group => groupsOfActive[state] ?? 'ended';
