/** A systemd of the tests with logind and an account that lingers: its user manager runs without a login. */
import {execFileSync, spawnSync} from 'node:child_process';
import {
	chownSync,
	copyFileSync,
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {eventually} from '../eventually.js';
import {program} from '../program/cli.js';
import {hasSystemd, startSystemd} from './systemd.js';

const uid = 61_003;
const dbusDaemon = '/usr/bin/dbus-daemon';

/** Whether systemd with logind can be started here. A machine that systemd runs gets no test account. */
export function hasUserManager(): boolean {
	const found =
		hasSystemd() &&
		!existsSync('/run/systemd/system') &&
		[dbusDaemon, '/lib/systemd/systemd-logind', '/usr/bin/setpriv'].every((file) => existsSync(file));
	if (!found) {
		console.warn(
			'Tests are skipped that need a user manager of systemd: logind, dbus, and a machine that systemd does not run',
		);
	}

	return found;
}

/** The units of a distribution need targets that start the whole system, so these are reduced. */
const units: Readonly<Record<string, string>> = {
	'dbus.socket': `[Unit]
DefaultDependencies=no
[Socket]
ListenStream=/run/dbus/system_bus_socket
`,
	'dbus.service': `[Unit]
DefaultDependencies=no
Requires=dbus.socket
After=dbus.socket
[Service]
Type=notify
ExecStart=${dbusDaemon} --system --address=systemd: --nofork --nopidfile --systemd-activation --syslog-only
`,
	'systemd-logind.service': `[Unit]
DefaultDependencies=no
Requires=dbus.socket
After=dbus.socket
[Service]
Type=dbus
BusName=org.freedesktop.login1
ExecStart=/lib/systemd/systemd-logind
`,
	'user-runtime-dir@.service': `[Unit]
DefaultDependencies=no
StopWhenUnneeded=yes
[Service]
Type=oneshot
RemainAfterExit=yes
Slice=user-%i.slice
ExecStart=/lib/systemd/systemd-user-runtime-dir start %i
ExecStop=/lib/systemd/systemd-user-runtime-dir stop %i
`,
	// PAM would set the variable.
	'user@.service': `[Unit]
DefaultDependencies=no
Requires=user-runtime-dir@%i.service
After=user-runtime-dir@%i.service
[Service]
Type=notify
User=%i
Environment=XDG_RUNTIME_DIR=/run/user/%i
Slice=user-%i.slice
Delegate=yes
KillMode=mixed
ExecStart=/lib/systemd/systemd --user
`,
};

/** Shell commands that prepare the directories and a setting of logind, add the account, and hide the accounts of the machine that linger. */
const preparationOf = (directory: string): string => String.raw`
cd /run
mkdir -p systemd/seats systemd/sessions systemd/users systemd/inhibit systemd/shutdown systemd/logind.conf.d
printf '[Login]\nKillUserProcesses=yes\n' > systemd/logind.conf.d/tests.conf
mount --bind '${directory}/passwd' /etc/passwd
mount --bind '${directory}/group' /etc/group
mkdir -p /var/lib/systemd
mount -t tmpfs tmpfs /var/lib/systemd
mkdir /var/lib/systemd/linger
cd /`;

type Ran = {readonly exitCode: number; readonly stdout: string; readonly stderr: string};

export type UserManager = {
	readonly home: string;
	/** Runs a program as the account, outside of any login session. */
	readonly run: (...words: readonly string[]) => Ran;
	/** Runs `canhazgpu` in the same way. */
	readonly canhazgpu: (...words: readonly string[]) => Ran;
	/** Runs `canhazgpu` in a login session, which goes on until `logOut` ends it as logind does: by killing the processes of its control group. */
	readonly logIn: (...words: readonly string[]) => Ran & {readonly logOut: () => void};
	/** Lets the user manager run without a login, or ends it. */
	readonly linger: (isOn: boolean) => Promise<void>;
	readonly stop: () => Promise<void>;
};

const longestMs = 120_000;

function runHere([command, ...words]: readonly string[]): Ran {
	const {status, stdout, stderr} = spawnSync(command!, words, {encoding: 'utf8', timeout: longestMs});
	return {exitCode: status ?? -1, stdout, stderr};
}

/** Starts systemd, and makes an embedded pool of simulated GPUs that the account can use. */
export async function startUserManager(gpuCount: number): Promise<UserManager> {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-user-'));
	const inside = (name: string): string => path.join(directory, name);
	mkdirSync(inside('home'));
	for (const [name, line] of [
		['passwd', `tester:x:${uid}:${uid}::${inside('home')}:/bin/sh\n`],
		['group', `tester:x:${uid}:\n`],
	] as const) {
		writeFileSync(inside(name), `${readFileSync(`/etc/${name}`, 'utf8').trimEnd()}\n${line}`);
	}

	cpSync(path.dirname(program), inside('dist'), {recursive: true});
	copyFileSync(process.execPath, inside('node'));
	execFileSync('chmod', ['-R', 'a+rX', directory]);
	chownSync(inside('home'), uid, uid);
	const systemd = await startSystemd([directory], {units, preparation: preparationOf(directory)});
	const root = (...words: readonly string[]): Ran => runHere([...systemd.entrance, ...words]);
	const asAccount = [
		'setpriv',
		`--reuid=${uid}`,
		`--regid=${uid}`,
		'--clear-groups',
		'env',
		'-i',
		`--chdir=${inside('home')}`,
		`HOME=${inside('home')}`,
		'PATH=/usr/bin:/bin',
		`XDG_RUNTIME_DIR=/run/user/${uid}`,
		'CANHAZGPU_STORE=embedded',
		`CANHAZGPU_POOL_DIRECTORY=${inside('pool')}`,
	];
	const words = [inside('node'), inside('dist/cli.js')];
	const manager: UserManager = {
		home: inside('home'),
		run: (...command) => root(...asAccount, ...command),
		canhazgpu: (...command) => root(...asAccount, ...words, ...command),
		logIn(...command) {
			const unit = `session-${crypto.randomUUID().slice(0, 8)}.scope`;
			// The shell of the session goes on after the command.
			const script = '"$@"; code=$?; sleep 600 <&- >&- 2>&- & exit $code';
			const ran = root(
				'systemd-run',
				'--quiet',
				'--scope',
				`--unit=${unit}`,
				`--slice=user-${uid}.slice`,
				...asAccount,
				'sh',
				'-c',
				script,
				'sh',
				...words,
				...command,
			);
			return {
				...ran,
				logOut() {
					execFileSync(systemd.entrance[0]!, [...systemd.entrance.slice(1), 'systemctl', 'stop', unit], {
						timeout: longestMs,
					});
				},
			};
		},
		async linger(isOn) {
			const {exitCode, stderr} = root('loginctl', isOn ? 'enable-linger' : 'disable-linger', 'tester');
			if (exitCode !== 0) {
				throw new Error(`loginctl: ${stderr}`);
			}

			await eventually(() => (root('test', '-S', `/run/user/${uid}/systemd/private`).exitCode === 0) === isOn);
		},
		async stop() {
			await systemd.stop();
			rmSync(directory, {recursive: true});
		},
	};
	try {
		const admin = root(
			'env',
			'CANHAZGPU_STORE=embedded',
			`CANHAZGPU_POOL_DIRECTORY=${inside('pool')}`,
			...words,
			'admin',
			'--gpus',
			String(gpuCount),
			'--provider',
			'fake',
			'--store',
			'embedded',
		);
		if (admin.exitCode !== 0) {
			throw new Error(admin.stderr);
		}

		await eventually(() => root('loginctl', 'list-users').exitCode === 0);
		return manager;
	} catch (error) {
		await manager.stop();
		throw error;
	}
}
