/** `web --mine`: a dashboard that can make changes as this account, on a private socket. */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {CanhazgpuError} from '../errors.js';
import {requesterOf} from '../core/rules/leases/ownership.js';
import {wantedText} from '../format/queue/waiting-progress.js';
import {eventTime} from '../format/text/days.js';
import {shellCommand} from '../format/text/shell.js';
import {sanitize} from '../format/text/text.js';
import type {App} from '../app/contract.js';
import type {Input} from '../command-line/command.js';
import type {MineAddress} from '../web/index.js';
import {createOwnJobs} from './jobs/own-jobs.js';
import {remindOfGrant} from './shared/acquire.js';

export function checkMine(input: Input): void {
	if (input.has('host')) {
		throw new CanhazgpuError('usage', '--host is for a public dashboard, but --mine uses a private socket', {
			hint: 'Leave out one of them.',
		});
	}

	if (input.has('port') && input.config.get('web.port') === 0) {
		throw new CanhazgpuError('usage', '--mine needs a port of your own computer, not 0', {
			hint: 'For example: canhazgpu web --mine --port 8081',
		});
	}
}

function onEnter(pressed: () => void): () => void {
	const {stdin} = process;
	if (!stdin.isTTY) {
		return () => undefined;
	}

	const listener = (data: Uint8Array | string): void => {
		if (data.toString().includes('\n')) {
			pressed();
		}
	};

	stdin.on('data', listener);
	return () => {
		stdin.off('data', listener);
		stdin.pause();
	};
}

type Mine = {readonly address: MineAddress; readonly end: () => void};

/** Prepares the socket and prints how to reach the dashboard. `port` is a port of the user's own computer, which ssh forwards to the socket. */
export async function openMine(app: App, port: number): Promise<Mine> {
	const {host} = app;
	const directory = await app.openPrivateDirectory();
	const socketPath = path.join(directory, 'web.sock');
	const admits = await app.loadCallerCheck();
	const canAsk = process.stdin.isTTY;
	const socketInode = (): number | undefined => lstatSync(socketPath, {throwIfNoEntry: false})?.ino;
	let inode: number | undefined;
	let newLink: (() => string) | undefined;
	const printLink = (): void => {
		app.print(`\n  http://localhost:${port}/#token=${newLink!()}\n`);
	};

	const stop = onEnter(() => {
		if (newLink === undefined) {
			return;
		}

		// Systemd deletes XDG_RUNTIME_DIR when the account logs out, unless it may linger.
		if (socketInode() !== inode) {
			app.remark(
				`The socket of this dashboard has been deleted, so no link works any more: ${socketPath}\nPress Ctrl-C and start canhazgpu web --mine again. See canhazgpu help web.`,
			);
			return;
		}

		app.print('Another link, which works once within 10 minutes:');
		printLink();
	});
	return {
		end: stop,
		address: {
			socketPath,
			admits,
			get account() {
				return requesterOf(host.account).account;
			},
			requester: () => app.requester(undefined),
			jobs: createOwnJobs(app),
			served(request, grant) {
				void remindOfGrant(app, request, grant);
			},
			left(request, {message, hint}) {
				const reason = [message, hint].filter((words) => words !== undefined).join('. ');
				app.remark(`Your request for ${wantedText(request)} has left the queue: ${sanitize(reason)}`);
			},
			opened() {
				const now = Date.now() / 1000;
				app.remark(
					`${eventTime(now, now)} The link was opened, and that page now acts as ${sanitize(host.account.name)}. If you did not open it, press Ctrl-C to end every session.`,
				);
			},
			ready(makeLink) {
				newLink = makeLink;
				inode = socketInode();
				const tunnel = shellCommand(['ssh', '-L', `${port}:${socketPath}`, `${host.account.name}@${host.hostname}`]);
				app.print(
					`Your private dashboard, which acts as ${sanitize(host.account.name)}. On your own computer, run:\n\n  ${tunnel}\n\nThen open this link there within 10 minutes (it works once):`,
				);
				printLink();
				app.print(`${canAsk ? 'Press Enter for another link. ' : ''}Press Ctrl-C to stop it and end every session.`);
			},
		},
	};
}
