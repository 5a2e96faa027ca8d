/** The targets of notices: `notify.to` and the older settings `notify.terminals`, `notify.command` and `notify.webhook`. */

export const urlKinds = ['slack', 'discord', 'ntfy', 'webhook'] as const;

type UrlKind = (typeof urlKinds)[number];

export type Target =
	| {readonly kind: 'terminal' | 'desktop'}
	/** If `address` is absent, the mail goes to the local mailbox of the account. */
	| {readonly kind: 'mail'; readonly address?: string}
	| {readonly kind: UrlKind; readonly url: string; readonly setting?: 'notify.webhook'}
	| {readonly kind: 'exec'; readonly command: readonly string[]; readonly setting?: 'notify.command'};

export const targetForms =
	'terminal, desktop, mail, mail:ADDRESS, slack:URL, discord:URL, ntfy:URL, webhook:URL, exec:PATH';

type Parsed = {readonly target: Target} | {readonly problem: string};

const longestAddress = 254;

/** Whether a text can be passed to a mail program as an address. The first character must not turn the address into an option, a path or a pipe. */
export const isMailAddress = (text: string): boolean =>
	text.length <= longestAddress && /^[\w+.][\w+\-.=]*(?:@[\dA-Za-z][\d\-.A-Za-z]*)?$/v.test(text);

const isUrlKind = (kind: string): kind is UrlKind => (urlKinds as readonly string[]).includes(kind);

const isThisMachine = (hostname: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/v.test(hostname);

function isDecodable(text: string): boolean {
	try {
		decodeURIComponent(text);
		return true;
	} catch {
		return false;
	}
}

/** Returns why a URL cannot be used. The answer does not quote the URL. */
function urlProblem(kind: UrlKind, text: string): string | undefined {
	if (/[\s\p{Control}\p{Format}]/v.test(text) || !URL.canParse(text) || !/^https?:\/\//iv.test(text)) {
		return `needs a URL without spaces: ${kind}:https://...`;
	}

	const {protocol, hostname, username, password, pathname} = new URL(text);
	const hasCredentials = username !== '' || password !== '';
	if (protocol === 'http:' && !isThisMachine(hostname)) {
		return 'needs https://, because the URL is a secret. http:// is only for this machine';
	}

	if (hasCredentials && (kind === 'slack' || kind === 'discord')) {
		return 'takes no user name or password in its URL';
	}

	if (!isDecodable(username) || !isDecodable(password)) {
		return 'has a user name or password with a % that is not followed by two hex digits: write %25';
	}

	return kind === 'ntfy' && pathname === '/' ? 'needs a topic: ntfy:https://ntfy.sh/TOPIC' : undefined;
}

/** Parses one item of `notify.to`. A problem never quotes the part after the colon, which can be a secret. */
export function parseTarget(text: string): Parsed {
	const colon = text.indexOf(':');
	const kind = colon === -1 ? text : text.slice(0, colon);
	const rest = colon === -1 ? undefined : text.slice(colon + 1);
	if (kind === 'terminal' || kind === 'desktop') {
		return rest === undefined ? {target: {kind}} : {problem: `${kind} takes no value after it`};
	}

	if (kind === 'mail') {
		return rest === undefined
			? {target: {kind}}
			: isMailAddress(rest)
				? {target: {kind, address: rest}}
				: {problem: 'mail needs an address such as mail:alice@example.org'};
	}

	if (kind === 'exec') {
		return rest?.startsWith('/') === true && !/\p{Control}/v.test(rest)
			? {target: {kind, command: [rest]}}
			: {problem: 'exec needs the full path of a program: exec:/usr/local/bin/tell'};
	}

	if (isUrlKind(kind)) {
		const problem = urlProblem(kind, rest ?? '');
		return problem === undefined ? {target: urlTarget(kind, rest!)} : {problem: `${kind} ${problem}`};
	}

	return {
		problem: /^https?$/iv.test(kind)
			? `a URL needs the kind of service before it, such as webhook:${kind}://...`
			: `${/^[a-z]{1,12}$/v.test(kind) ? kind : 'it'} is not one of these targets`,
	};
}

export function targetsProblem(items: readonly string[]): string | undefined {
	for (const [index, item] of items.entries()) {
		const parsed = parseTarget(item);
		if ('problem' in parsed) {
			return `Item ${index + 1}: ${parsed.problem}.`;
		}
	}

	return undefined;
}

/** Returns whether a URL belongs to Slack. Slack also accepts the JSON of `webhook`, but interprets mentions in the text. */
const isSlack = (url: string): boolean => new URL(url).hostname === 'hooks.slack.com';

const urlTarget = (kind: UrlKind, url: string) =>
	({kind: kind === 'webhook' && isSlack(url) ? 'slack' : kind, url}) as const;

export const hasUrl = (targets: readonly Target[]): boolean => targets.some(({kind}) => isUrlKind(kind));

type TargetSettings = {
	readonly to: readonly Target[] | undefined;
	readonly usesTerminals: boolean;
	readonly command: readonly string[] | undefined;
	readonly webhook: string | undefined;
};

const identityOf = (target: Target): string =>
	'url' in target
		? `${target.kind} ${new URL(target.url).href}`
		: JSON.stringify(target.kind === 'exec' ? target.command : target);

/** Combines the settings. `notify.to` replaces the terminals, `notify.terminals: false` removes them, and equal targets count once. */
export function targetsOf({to, usesTerminals, command, webhook}: TargetSettings): readonly Target[] {
	const all: readonly Target[] = [
		...(to ?? [{kind: 'terminal'} as const]),
		...(command === undefined ? [] : [{kind: 'exec', command, setting: 'notify.command'} as const]),
		...(webhook === undefined ? [] : [{...urlTarget('webhook', webhook), setting: 'notify.webhook'} as const]),
	];
	const identities = all.map((target) => identityOf(target));
	return all.filter(
		({kind}, index) => (kind !== 'terminal' || usesTerminals) && identities.indexOf(identities[index]!) === index,
	);
}

/** Whether processes of other accounts can use this target to notify an account. */
export const reachesOthers = ({kind}: Target): boolean => kind !== 'terminal' && kind !== 'desktop';

const plainName = (target: Target): string => {
	if ('setting' in target && target.setting !== undefined) {
		return target.setting;
	}

	switch (target.kind) {
		case 'mail': {
			return target.address === undefined ? 'mail' : `mail to ${target.address}`;
		}

		case 'exec': {
			return target.command[0]!;
		}

		default: {
			return target.kind;
		}
	}
};

/** Returns displayable names of targets: without URLs, and with a number if two have the same name. */
export function namesOf(targets: readonly Target[]): readonly string[] {
	const seen = new Map<string, number>();
	return targets.map((target) => {
		const name = plainName(target);
		const count = (seen.get(name) ?? 0) + 1;
		seen.set(name, count);
		return count === 1 ? name : `${name} ${count}`;
	});
}
