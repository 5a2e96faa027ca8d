import {quietTimeText} from '../core/rules/notices/quiet.js';
import {CanhazgpuError} from '../errors.js';
import {harmlessJson} from '../format/text/json.js';
import {sanitize} from '../format/text/text.js';
import type {Notices} from '../app/contract.js';
import type {Command} from '../command-line/command.js';
import {jsonFlag} from './shared/common-flags.js';

function settingsText({targets, events, quiet}: Notices['settings']): string {
	return [
		['targets', targets.length === 0 ? 'none' : targets.map((name) => sanitize(name)).join(', ')],
		['events', events.length === 0 ? 'none' : events.join(', ')],
		['quiet time', quiet === undefined ? 'none' : quietTimeText(quiet)],
	]
		.map(([name = '', value = '']) => `${name.padEnd(12)}${value}`)
		.join('\n');
}

const settingsJson = ({targets, events, quiet}: Notices['settings']) => ({
	targets,
	events,
	quiet: quiet === undefined ? undefined : quietTimeText(quiet),
});

export const notify: Command = {
	name: 'notify',
	summary: 'Show where your notices are sent, or send a test notice',
	usage: '[--test] [--json]',
	examples: [
		['canhazgpu notify', 'your targets, events and quiet time'],
		['canhazgpu notify --test', 'send a test notice to each target'],
	],
	flags: {
		test: {summary: 'send a test notice to each target; exit with code 1 if one does not arrive'},
		json: jsonFlag,
	},
	notes: ['The targets are set in a config file: see canhazgpu help notifications. URLs are never shown.'],
	async run(app, input) {
		const notices = await app.loadNotices();
		const {settings} = notices;
		if (!input.has('test')) {
			app.print(input.has('json') ? harmlessJson(settingsJson(settings)) : settingsText(settings));
			return 0;
		}

		if (settings.targets.length === 0) {
			throw new CanhazgpuError('failed', 'There is no target to test', {
				hint: 'Set notify.to in your config file. See: canhazgpu help notifications',
			});
		}

		const results = await notices.test();
		app.print(
			input.has('json')
				? harmlessJson({
						...settingsJson(settings),
						results: results.map(({name, delivery}) => ({
							target: name,
							delivered: delivery.outcome === 'delivered',
							reason: delivery.outcome === 'delivered' ? undefined : delivery.reason,
						})),
					})
				: results
						.map(({name, delivery}) =>
							delivery.outcome === 'delivered'
								? `${sanitize(name)}: delivered`
								: `${sanitize(name)}: not delivered: ${sanitize(delivery.reason)}`,
						)
						.join('\n'),
		);
		return results.every(({delivery}) => delivery.outcome === 'delivered') ? 0 : 1;
	},
};
