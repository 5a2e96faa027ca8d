import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync} from 'node:fs';
import {connect, createServer, type Socket} from 'node:net';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {loadPeerUid} from '../../../source/host/accounts/peer.js';
import {directoryOf, isRoot, mallory, root} from '../../_helpers/machine/accounts.js';

/** Starts a server on a socket that every account can reach. `caller` returns the uid of the next client. */
async function startServer(): Promise<{readonly file: string; readonly caller: () => Promise<Socket>}> {
	const file = path.join(directoryOf(isRoot ? root : {uid: process.getuid!(), gid: process.getgid!()}), 'socket');
	const server = createServer();
	server.listen(file);
	await once(server, 'listening');
	chmodSync(file, 0o666);
	onTestFinished(() => {
		server.close();
	});
	return {
		file,
		async caller() {
			const [socket] = (await once(server, 'connection')) as [Socket];
			return socket;
		},
	};
}

test('peerUid returns the uid of this process for a connection of its own', async () => {
	const peerUid = await loadPeerUid();
	const {file, caller} = await startServer();
	const own = connect(file);
	const socket = await caller();
	expect(peerUid?.(socket)).toBe(process.geteuid!());
	own.destroy();
	await once(socket.resume(), 'close');
	expect(peerUid?.(socket)).toBeUndefined();
});

test.runIf(isRoot)('peerUid returns the uid of another account that connects', async () => {
	const peerUid = await loadPeerUid();
	const {file, caller} = await startServer();
	const child = spawn(
		'/usr/bin/env',
		['perl', '-MIO::Socket::UNIX', '-e', 'my $s = IO::Socket::UNIX->new(Peer => shift) or die $!; <STDIN>', file],
		{
			uid: mallory.uid,
			gid: mallory.gid,
			cwd: '/',
			stdio: ['pipe', 'ignore', 'inherit'],
		},
	);
	const socket = await caller();
	expect(peerUid?.(socket)).toBe(mallory.uid);
	child.stdin.end();
	socket.destroy();
});
