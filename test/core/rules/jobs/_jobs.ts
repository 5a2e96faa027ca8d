import type {Job, JobList} from '../../../../source/core/model/jobs.js';

export const now = 1_800_000_000;

export const job = (number: number, part: Partial<Job> = {}): Job => ({
	number,
	token: `token-${number}`,
	state: 'pending',
	account: 'alice',
	directory: '/home/alice',
	words: ['--', 'true'],
	command: ['true'],
	count: 1,
	after: [],
	retries: 0,
	starts: 0,
	submitTime: now - 3600,
	log: `/tmp/${number}.log`,
	isHeld: true,
	...part,
});

export const listOf = (...jobs: readonly Job[]): JobList => ({
	now,
	index: {
		next: Math.max(0, ...jobs.map(({number}) => number)) + 1,
		numbers: jobs.map(({number}) => number),
		raw: 'index',
	},
	records: jobs.map((each) => ({kind: 'job', number: each.number, raw: `raw-${each.number}`, job: each})),
});
