/** Turns a notice into the request of each target. Texts of other people cannot mention anybody, and cannot add headers or markup. */
import {Buffer} from 'node:buffer';
import type {HttpRequest, NoticeRequest, ProgramRequest} from '../../core/model/notice-request.js';
import {isMailAddress, type Target} from '../../core/rules/notices/targets.js';
import {sanitize, shorten} from '../text/text.js';

export type Message = {
	readonly account: string;
	readonly hostname: string;
	/** The notice as one line, without control characters. */
	readonly text: string;
	/** The same notice as one line of JSON. */
	readonly json: string;
};

/** `@` and a zero-width space, which keeps `@` from beginning a mention. */
const harmlessAt = '@\u{200B}';

/** Slack shows `&lt;` as `<`, so `<!channel>` stays text. The zero-width space after `@` is for servers that read `@all`, such as Mattermost. */
export const slackText = (text: string): string =>
	text
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('@', () => harmlessAt);

/** Escapes Markdown and separates `@` from the name after it. */
export const discordText = (text: string): string =>
	text.replaceAll(/[#\(\)*<>\[\\\]_`\|~]/gv, String.raw`\$&`).replaceAll('@', () => harmlessAt);

/** Half of what Discord accepts, because escaping can double the length. */
const longestDiscord = 1000;

/** Escapes text for desktops, which read the body of a message as markup. */
export const desktopText = (text: string): string =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Adds the name of the account, for targets that several people read. */
const namedText = ({account, text}: Message): string => `${sanitize(account)}: ${text}`;

/** Moves the name and password of a URL to a header. fetch rejects a URL with a password. */
function withoutCredentials(address: string): Pick<HttpRequest, 'url' | 'headers'> {
	const url = new URL(address);
	const {username, password} = url;
	url.username = '';
	url.password = '';
	const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
	return {
		url: url.href,
		headers: username + password === '' ? {} : {authorization: `Basic ${pair.toString('base64')}`},
	};
}

function post(address: string, contentType: string, body: string): HttpRequest {
	const {url, headers} = withoutCredentials(address);
	return {type: 'http', method: 'POST', url, headers: {'content-type': contentType, ...headers}, body};
}

const postJson = (address: string, body: unknown): HttpRequest =>
	post(address, 'application/json', JSON.stringify(body));

/** Converts text to a value for a mail header: printable ASCII on one line. */
const headerText = (text: string): string => sanitize(text).replaceAll(/[^\u{20}-\u{7E}]/gv, '?');

function mailOf(address: string, message: Message): NoticeRequest {
	if (!isMailAddress(address)) {
		return {type: 'impossible', reason: 'the name of the account cannot be used as a mail address'};
	}

	const subject = `canhazgpu on ${headerText(message.hostname)}`;
	const body = namedText(message);
	const head = [
		`To: ${address}`,
		`Subject: ${subject}`,
		'MIME-Version: 1.0',
		'Content-Type: text/plain; charset=utf-8',
		'Content-Transfer-Encoding: 8bit',
		'Auto-Submitted: auto-generated',
	];
	return {
		type: 'program',
		runs: 'system',
		ways: [
			// Passes the recipient as an argument instead of in the headers. With -i, a line with one dot does not end the mail.
			{argv: ['sendmail', '-i', address], stdin: `${head.join('\n')}\n\n${body}\n`},
			{argv: ['mail', '-s', subject, '--', address], stdin: `${body}\n`},
		],
		environment: {},
	};
}

function execOf(command: readonly string[], {account, text, json}: Message): ProgramRequest {
	return {
		type: 'program',
		runs: 'own',
		ways: [{argv: command, stdin: `${json}\n`}],
		environment: {CANHAZGPU_NOTICE_ACCOUNT: account, CANHAZGPU_NOTICE_TEXT: text},
	};
}

export function requestOf(target: Target, message: Message): NoticeRequest {
	switch (target.kind) {
		case 'terminal': {
			return {type: 'terminal', account: message.account, text: message.text};
		}

		case 'desktop': {
			return {
				type: 'program',
				runs: 'desktop',
				ways: [
					{argv: ['notify-send', '--app-name=canhazgpu', '--', 'canhazgpu', desktopText(message.text)], stdin: ''},
				],
				environment: {},
			};
		}

		case 'mail': {
			return mailOf(target.address ?? message.account, message);
		}

		case 'slack': {
			return postJson(target.url, {text: slackText(namedText(message)), mrkdwn: false, link_names: false});
		}

		case 'discord': {
			return postJson(target.url, {
				content: discordText(shorten(namedText(message), longestDiscord)),
				allowed_mentions: {parse: []},
			});
		}

		case 'ntfy': {
			return post(target.url, 'text/plain; charset=utf-8', namedText(message));
		}

		case 'webhook': {
			return post(target.url, 'application/json', message.json);
		}

		case 'exec': {
			return execOf(target.command, message);
		}
	}
}
