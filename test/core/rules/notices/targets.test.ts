import fc from 'fast-check';
import {expect, test} from 'vitest';
import {
	isMailAddress,
	namesOf,
	parseTarget,
	targetsOf,
	targetsProblem,
	type Target,
} from '../../../../source/core/rules/notices/targets.js';

test.each<[string, Target]>([
	['terminal', {kind: 'terminal'}],
	['desktop', {kind: 'desktop'}],
	['mail', {kind: 'mail'}],
	['mail:alice@example.org', {kind: 'mail', address: 'alice@example.org'}],
	['mail:alice', {kind: 'mail', address: 'alice'}],
	['slack:https://hooks.slack.com/services/T/B/x', {kind: 'slack', url: 'https://hooks.slack.com/services/T/B/x'}],
	['discord:https://discord.com/api/webhooks/1/x', {kind: 'discord', url: 'https://discord.com/api/webhooks/1/x'}],
	['ntfy:https://u:p@ntfy.sh/topic', {kind: 'ntfy', url: 'https://u:p@ntfy.sh/topic'}],
	['webhook:http://127.0.0.1:8080/x', {kind: 'webhook', url: 'http://127.0.0.1:8080/x'}],
	['webhook:http://localhost/x', {kind: 'webhook', url: 'http://localhost/x'}],
	['exec:/usr/local/bin/tell me', {kind: 'exec', command: ['/usr/local/bin/tell me']}],
])('parseTarget reads %s', (text, target) => {
	expect(parseTarget(text)).toEqual({target});
});

test.each([
	['', 'it is not one of these targets'],
	['slakc:https://x/hunter2', 'slakc is not one of these targets'],
	['HUNTER2:x', 'it is not one of these targets'],
	['https://hooks.slack.com/hunter2', 'a URL needs the kind of service before it, such as webhook:https://...'],
	['terminal:pts/3', 'terminal takes no value after it'],
	['slack', 'slack needs a URL without spaces: slack:https://...'],
	['slack:', 'slack needs a URL without spaces: slack:https://...'],
	['slack:ftp://example.org/hunter2', 'slack needs a URL without spaces: slack:https://...'],
	['slack:https://example.org/hunter2\nx', 'slack needs a URL without spaces: slack:https://...'],
	['slack:https://exa mple.org/hunter2', 'slack needs a URL without spaces: slack:https://...'],
	[
		'slack:HTTP://hooks.slack.com/hunter2',
		'slack needs https://, because the URL is a secret. http:// is only for this machine',
	],
	[
		'webhook:HTTP://127.0.0.1.example.org/',
		'webhook needs https://, because the URL is a secret. http:// is only for this machine',
	],
	['slack:https://user:hunter2@hooks.slack.com/x', 'slack takes no user name or password in its URL'],
	['discord:https://hunter2@discord.com/x', 'discord takes no user name or password in its URL'],
	[
		'webhook:https://user:hunter2%zz@example.org/',
		'webhook has a user name or password with a % that is not followed by two hex digits: write %25',
	],
	['ntfy:https://ntfy.sh', 'ntfy needs a topic: ntfy:https://ntfy.sh/TOPIC'],
	['mail:', 'mail needs an address such as mail:alice@example.org'],
	['mail:alice@example.org\nBcc: x@y', 'mail needs an address such as mail:alice@example.org'],
	['mail:-oQ/tmp', 'mail needs an address such as mail:alice@example.org'],
	['mail:|/bin/sh', 'mail needs an address such as mail:alice@example.org'],
	['mail:a@b,c@d', 'mail needs an address such as mail:alice@example.org'],
	['exec:tell', 'exec needs the full path of a program: exec:/usr/local/bin/tell'],
	['exec:/bin/a\0b', 'exec needs the full path of a program: exec:/usr/local/bin/tell'],
])('parseTarget rejects %j without quoting a secret', (text, problem) => {
	expect(parseTarget(text)).toEqual({problem});
	expect(problem).not.toMatch(/hunter2/iv);
});

test('targetsProblem names the first wrong item by its number', () => {
	expect(targetsProblem(['terminal', 'mail:', 'x'])).toBe(
		'Item 2: mail needs an address such as mail:alice@example.org.',
	);
	expect(targetsProblem(['terminal', 'mail'])).toBeUndefined();
});

test('isMailAddress rejects options and characters that are special to mail programs', () => {
	fc.assert(
		fc.property(fc.string(), (text) => {
			if (isMailAddress(text)) {
				expect(text).toMatch(/^[\w+.][\w+\-.=@]*$/v);
			}
		}),
	);
});

const none = {to: undefined, usesTerminals: true, command: undefined, webhook: undefined};

test('targetsOf returns the terminals if nothing is configured', () => {
	expect(targetsOf(none)).toEqual([{kind: 'terminal'}]);
	expect(targetsOf({...none, usesTerminals: false})).toEqual([]);
	expect(targetsOf({...none, to: []})).toEqual([]);
});

test('notify.to replaces the terminals and is combined with the older settings', () => {
	const to: readonly Target[] = [
		{kind: 'mail'},
		{kind: 'webhook', url: 'https://example.org'},
		{kind: 'slack', url: 'https://example.org'},
		{kind: 'mail'},
		{kind: 'exec', command: ['/bin/tell']},
	];
	const targets = targetsOf({...none, to, command: ['/bin/tell'], webhook: 'https://example.org/'});
	expect(targets).toEqual([to[0], to[1], to[2], to[4]]);
	expect(targetsOf({...none, to: [{kind: 'terminal'}], usesTerminals: false})).toEqual([]);
	expect(namesOf(targetsOf({...none, command: ['/bin/tell', 'x'], webhook: 'https://example.org'}))).toEqual([
		'terminal',
		'notify.command',
		'notify.webhook',
	]);
});

test('parseTarget recognizes a Slack URL given as a plain webhook', () => {
	const url = 'https://hooks.slack.com/services/T0/B0/hunter2';
	expect(parseTarget(`webhook:${url}`)).toEqual({target: {kind: 'slack', url}});
	expect(targetsOf({...none, to: [], webhook: url})).toEqual([{kind: 'slack', url, setting: 'notify.webhook'}]);
});

test('namesOf returns different names without URLs', () => {
	const urls = ['slack:https://example.org/hunter2', 'slack:https://example.org/hunter3', 'ntfy:https://x.org/hunter2'];
	const targets = [...urls, 'mail', 'mail:a@b', 'exec:/bin/tell'].flatMap((text) => {
		const parsed = parseTarget(text);
		return 'target' in parsed ? [parsed.target] : [];
	});
	expect(namesOf(targets)).toEqual(['slack', 'slack 2', 'ntfy', 'mail', 'mail to a@b', '/bin/tell']);
});
