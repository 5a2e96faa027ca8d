import {accessSync, constants} from 'node:fs';
import type {Config} from '../config/config.js';
import type {Delivery} from '../core/model/notice-request.js';
import type {Host} from '../core/model/ports.js';
import type {TargetCheck} from '../core/rules/notices/diagnosis.js';
import {isWanted, type NoticePreferences} from '../core/rules/notices/events.js';
import type {ReminderSender} from '../core/rules/notices/reminder.js';
import {namesOf, reachesOthers, targetsOf, type Target} from '../core/rules/notices/targets.js';
import {isRoot, requesterOf} from '../core/rules/leases/ownership.js';
import {messageOf as wordsOf} from '../errors.js';
import {messageOf, type Notice} from '../format/notices/notice.js';
import {requestOf, type Message} from '../format/notices/requests.js';
import {roughDuration} from '../format/text/durations.js';
import {harmlessJsonLine} from '../format/text/json.js';
import {createUsers} from '../host/accounts/users.js';
import {deliver, type DeliveryOptions} from '../host/notices/deliver.js';
import {findSystemTool} from '../host/notices/programs.js';
import {runSystemTool} from '../host/tool/system-tool.js';
import type {NamedDelivery, Notices} from './contract.js';
import {readNoticeFailures, recordDeliveries} from './notice-failures.js';

const longestName = 256;

type Audience = 'own' | 'others';

const getterFor = (config: Config, audience: Audience): Config['get'] =>
	audience === 'own' ? config.get : config.getForOthers;

function targetsFor(config: Config, audience: Audience): readonly Target[] {
	const get = getterFor(config, audience);
	return targetsOf({
		to: get('notify.to'),
		// `notify.terminals: false` in a user's own file turns off the terminals of other accounts, too.
		usesTerminals: config.get('notify.terminals')! && get('notify.terminals')!,
		command: get('notify.command'),
		webhook: get('notify.webhook'),
	}).filter(({kind}) => audience === 'own' || kind !== 'desktop');
}

function preferencesFor(config: Config, audience: Audience): NoticePreferences {
	const get = getterFor(config, audience);
	return {events: get('notify.events')!, quiet: get('notify.quiet')};
}

const senderOf = (config: Config, {account}: Host): Pick<ReminderSender, 'reachesAll' | 'own' | 'others'> => ({
	// Only root can write to the terminals of other accounts.
	reachesAll: targetsFor(config, 'others').some(
		(target) => reachesOthers(target) || (target.kind === 'terminal' && isRoot(account)),
	),
	own: preferencesFor(config, 'own'),
	others: preferencesFor(config, 'others'),
});

/** Sends a notice to one target. If the request cannot be built, the target counts as failed. Never rejects. */
async function deliverTo(
	target: Target,
	message: Message,
	options: DeliveryOptions,
	signal: AbortSignal | undefined,
): Promise<Delivery> {
	try {
		return await deliver(requestOf(target, message), options, signal);
	} catch (error) {
		return {outcome: 'failed', reason: wordsOf(error)};
	}
}

type Sending = Omit<DeliveryOptions, 'run'> & {readonly host: Host; readonly signal: AbortSignal | undefined};

async function sendAll(
	targets: readonly Target[],
	message: Message,
	{host, signal, ...options}: Sending,
): Promise<readonly NamedDelivery[]> {
	const names = namesOf(targets);
	const deliveries = await Promise.all(
		targets.map(async (target, index) => ({
			name: names[index]!,
			delivery: await deliverTo(target, message, {...options, run: runSystemTool}, signal),
		})),
	);
	recordDeliveries(host, deliveries, Date.now() / 1000);
	return deliveries;
}

export async function notifyBy(
	config: Config,
	host: Host,
	notice: Notice,
	signal?: AbortSignal,
): Promise<readonly string[]> {
	const {account} = notice;
	const users = createUsers();
	const isOwn = account === host.account.name || account === requesterOf(host.account).account;
	// Refuses names that no account has. A user of the pool could otherwise invent a name that a program reads as an option or a path.
	if (!isOwn && !(await users.knows(account))) {
		return [`there is no account ${harmlessJsonLine(account.slice(0, longestName))} on this machine`];
	}

	const audience = isOwn ? 'own' : 'others';
	const isAsked = notice.kind === 'job-ended' && notice.isAsked;
	if (!isAsked && !isWanted(notice.kind, preferencesFor(config, audience))) {
		return [];
	}

	const deliveries = await sendAll(targetsFor(config, audience), messageOf(notice, host.hostname), {
		host,
		users,
		signal,
	});
	return deliveries.flatMap(({name, delivery}) =>
		delivery.outcome === 'failed' ? [`${name}: ${delivery.reason}`] : [],
	);
}

async function testTargets(config: Config, host: Host): Promise<readonly NamedDelivery[]> {
	const {name: account} = host.account;
	const message = messageOf({kind: 'test', account, gpus: []}, host.hostname);
	return sendAll(targetsFor(config, 'own'), message, {
		host,
		users: createUsers(),
		signal: undefined,
		includesOwn: true,
	});
}

const settingsOf = (config: Config): Notices['settings'] => ({
	targets: namesOf(targetsFor(config, 'own')),
	...preferencesFor(config, 'own'),
});

function isExecutable(file: string): boolean {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

function problemOf(target: Target): string | undefined {
	switch (target.kind) {
		case 'mail': {
			return ['sendmail', 'mail'].some((name) => findSystemTool(name) !== undefined)
				? undefined
				: 'sendmail or mail is not installed';
		}

		case 'desktop': {
			return findSystemTool('notify-send') === undefined ? 'notify-send is not installed' : undefined;
		}

		case 'exec': {
			const program = target.command[0]!;
			return program.startsWith('/') && !isExecutable(program) ? 'this account cannot run the program' : undefined;
		}

		default: {
			return undefined;
		}
	}
}

function checkTargets(config: Config, host: Host): readonly TargetCheck[] {
	const failures = readNoticeFailures(host);
	const audiences: readonly Audience[] = isRoot(host.account) ? ['own', 'others'] : ['own'];
	const checks = audiences.flatMap((audience) => {
		const targets = targetsFor(config, audience);
		const names = namesOf(targets);
		return targets.map((target, index): TargetCheck => {
			const failure = failures.get(names[index]!);
			return {
				name: names[index]!,
				problem: problemOf(target),
				failure: failure && {
					reason: failure.reason,
					ageText: roughDuration(Math.max(0, Date.now() / 1000 - failure.time)),
				},
			};
		});
	});
	return new Map(checks.map((check) => [check.name, check])).values().toArray();
}

export const createNotices = (config: Config, host: Host): Notices => ({
	get sender() {
		return senderOf(config, host);
	},
	get settings() {
		return settingsOf(config);
	},
	test: async () => testTargets(config, host),
	checks: () => checkTargets(config, host),
});
