import fc from 'fast-check';
import {expect, test} from 'vitest';
import {desktopText, discordText, requestOf, slackText, type Message} from '../../../source/format/notices/requests.js';
import type {HttpRequest, ProgramRequest} from '../../../source/core/model/notice-request.js';
import type {Target} from '../../../source/core/rules/notices/targets.js';

const message: Message = {account: 'alice', hostname: 'box', text: 'GPU 3 ends in 10m', json: '{"kind":"ending"}'};
const url = 'https://example.org/hunter2';

test.each<[Target, unknown]>([
	[{kind: 'terminal'}, {type: 'terminal', account: 'alice', text: 'GPU 3 ends in 10m'}],
	[
		{kind: 'desktop'},
		{
			type: 'program',
			runs: 'desktop',
			ways: [{argv: ['notify-send', '--app-name=canhazgpu', '--', 'canhazgpu', 'GPU 3 ends in 10m'], stdin: ''}],
			environment: {},
		},
	],
	[
		{kind: 'slack', url},
		{
			type: 'http',
			method: 'POST',
			url,
			headers: {'content-type': 'application/json'},
			body: '{"text":"alice: GPU 3 ends in 10m","mrkdwn":false,"link_names":false}',
		},
	],
	[
		{kind: 'discord', url},
		{
			type: 'http',
			method: 'POST',
			url,
			headers: {'content-type': 'application/json'},
			body: '{"content":"alice: GPU 3 ends in 10m","allowed_mentions":{"parse":[]}}',
		},
	],
	[
		{kind: 'ntfy', url: 'https://us%40er:pass@ntfy.sh/topic'},
		{
			type: 'http',
			method: 'POST',
			url: 'https://ntfy.sh/topic',
			headers: {
				'content-type': 'text/plain; charset=utf-8',
				authorization: 'Basic dXNAZXI6cGFzcw==',
			},
			body: 'alice: GPU 3 ends in 10m',
		},
	],
	[
		{kind: 'webhook', url},
		{
			type: 'http',
			method: 'POST',
			url,
			headers: {'content-type': 'application/json'},
			body: message.json,
		},
	],
	[
		{kind: 'exec', command: ['/bin/tell', 'x']},
		{
			type: 'program',
			runs: 'own',
			ways: [{argv: ['/bin/tell', 'x'], stdin: `${message.json}\n`}],
			environment: {CANHAZGPU_NOTICE_ACCOUNT: 'alice', CANHAZGPU_NOTICE_TEXT: 'GPU 3 ends in 10m'},
		},
	],
])('requestOf returns the right request for %j', (target, request) => {
	expect(requestOf(target, message)).toEqual(request);
});

test('requestOf sends a mail through sendmail, or through mail if sendmail is missing', () => {
	const request = requestOf(
		{kind: 'mail', address: 'alice@example.org'},
		{...message, text: 'Grüße'},
	) as ProgramRequest;
	expect(request.runs).toBe('system');
	expect(request.ways).toEqual([
		{
			argv: ['sendmail', '-i', 'alice@example.org'],
			stdin: [
				'To: alice@example.org',
				'Subject: canhazgpu on box',
				'MIME-Version: 1.0',
				'Content-Type: text/plain; charset=utf-8',
				'Content-Transfer-Encoding: 8bit',
				'Auto-Submitted: auto-generated',
				'',
				'alice: Grüße',
				'',
			].join('\n'),
		},
		{argv: ['mail', '-s', 'canhazgpu on box', '--', 'alice@example.org'], stdin: 'alice: Grüße\n'},
	]);
});

test('requestOf sends mail without an address to the account', () => {
	expect(requestOf({kind: 'mail'}, message)).toMatchObject({ways: [{argv: ['sendmail', '-i', 'alice']}, {}]});
	for (const account of ['-oQ', '|sh', 'a\nBcc: b', String.raw`DOMAIN\alice`, '']) {
		expect(requestOf({kind: 'mail'}, {...message, account})).toMatchObject({type: 'impossible'});
	}
});

test('requestOf does not let a hostname add a header to a mail', () => {
	const {ways} = requestOf({kind: 'mail'}, {...message, hostname: 'box\r\nBcc: eve@example.org é'}) as ProgramRequest;
	expect(ways[0]!.stdin).toContain('\nSubject: canhazgpu on box Bcc: eve@example.org ?\n');
	expect(ways[0]!.stdin).not.toMatch(/^Bcc/mv);
});

const mentions = ['@everyone', '@here', '@channel', '<!channel>', '<!here>', '<@U123>', '<@&7>', '<#C1>', '@alice'];

test('a notification text cannot mention anyone in Slack or add a link', () => {
	for (const mention of mentions) {
		const {body} = requestOf({kind: 'slack', url}, {...message, text: `note ${mention}`}) as HttpRequest;
		const {text} = JSON.parse(body) as {text: string};
		expect(text).not.toContain(mention);
	}

	expect(slackText('<https://evil|box> & @all')).toBe('&lt;https://evil|box&gt; &amp; @\u{200B}all');
});

test('a notification text cannot mention anyone in Discord or add markup', () => {
	for (const mention of mentions) {
		const {body} = requestOf({kind: 'discord', url}, {...message, text: `note ${mention}`}) as HttpRequest;
		const {content, allowed_mentions: allowed} = JSON.parse(body) as {content: string; allowed_mentions: unknown};
		expect(content).not.toContain(mention);
		expect(allowed).toEqual({parse: []});
	}

	expect(discordText('[box](https://evil) **x**')).toBe(String.raw`\[box\]\(https://evil\) \*\*x\*\*`);
});

test('a long notification text is cut for Discord, but never inside an escape sequence', () => {
	for (const length of [980, 981, 982, 2000]) {
		const {body} = requestOf(
			{kind: 'discord', url},
			{...message, text: String.raw`${'x'.repeat(length)}****\\****`.repeat(3)},
		) as HttpRequest;
		const {content} = JSON.parse(body) as {content: string};
		expect(content.length).toBeLessThanOrEqual(2000);
		expect(content).not.toMatch(/(?<!\\)(?:\\\\)*\\$/v);
	}
});

test('a notification text cannot add markup to a desktop notification', () => {
	expect(desktopText('<a href="x">&</a>')).toBe('&lt;a href="x"&gt;&amp;&lt;/a&gt;');
});

const everyTarget: readonly Target[] = [
	{kind: 'desktop'},
	{kind: 'mail', address: 'a@b'},
	{kind: 'slack', url},
	{kind: 'discord', url},
	{kind: 'ntfy', url},
	{kind: 'webhook', url},
	{kind: 'exec', command: ['/bin/tell']},
];

test('a notification text cannot change headers, URLs or the number of arguments', () => {
	fc.assert(
		fc.property(fc.string({unit: 'binary'}), fc.constantFrom(...everyTarget), (text, target) => {
			const plain = requestOf(target, message);
			const request = requestOf(target, {...message, text});
			if (request.type === 'http' && plain.type === 'http') {
				expect({...request, body: ''}).toEqual({...plain, body: ''});
			} else if (request.type === 'program' && plain.type === 'program') {
				expect(request.ways.map(({argv}) => argv.length)).toEqual(plain.ways.map(({argv}) => argv.length));
			} else {
				expect(request.type).toBe(plain.type);
			}
		}),
	);
});

test('requestOf puts no URL into the arguments of a program', () => {
	for (const target of everyTarget) {
		const request = requestOf(target, message);
		expect(request.type === 'program' ? JSON.stringify(request) : '').not.toContain('hunter2');
	}
});
