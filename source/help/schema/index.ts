/** The JSON Schemas (draft-07) of `--json` outputs, by command, and of answers of the dashboard. The output of `run` has the schema of `reserve`. */

type Schema = Readonly<Record<string, unknown>>;

type Load = () => Promise<{readonly default: Schema}>;

export const schemas: Readonly<Record<string, Load>> = {
	status: async () => import('./status.json', {with: {type: 'json'}}),
	'status-follow': async () => import('./status-follow.json', {with: {type: 'json'}}),
	'status-all': async () => import('./status-all.json', {with: {type: 'json'}}),
	queue: async () => import('./queue.json', {with: {type: 'json'}}),
	'queue-all': async () => import('./queue-all.json', {with: {type: 'json'}}),
	'queue-leave': async () => import('./queue-leave.json', {with: {type: 'json'}}),
	reserve: async () => import('./reserve.json', {with: {type: 'json'}}),
	'run-detach': async () => import('./run-detach.json', {with: {type: 'json'}}),
	jobs: async () => import('./jobs.json', {with: {type: 'json'}}),
	release: async () => import('./release.json', {with: {type: 'json'}}),
	extend: async () => import('./extend.json', {with: {type: 'json'}}),
	admin: async () => import('./admin.json', {with: {type: 'json'}}),
	who: async () => import('./who.json', {with: {type: 'json'}}),
	report: async () => import('./report.json', {with: {type: 'json'}}),
	notify: async () => import('./notify.json', {with: {type: 'json'}}),
	events: async () => import('./events.json', {with: {type: 'json'}}),
	'web-occupancy': async () => import('./web/occupancy.json', {with: {type: 'json'}}),
	'web-held-use': async () => import('./web/held-use.json', {with: {type: 'json'}}),
	doctor: async () => import('./doctor.json', {with: {type: 'json'}}),
};
