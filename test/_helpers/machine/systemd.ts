/**
Provides systemd for the tests: the machine's own or, if that does not run, one in new namespaces. That one runs a single empty unit and has its
own /tmp, /run and /dev, because the units of a distribution would delete files in the machine's /tmp.
*/
import {spawn, execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmdirSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {eventually} from '../eventually.js';

const program = '/lib/systemd/systemd';

/** Directories from which tests run programs: this repository and the directory of Node.js. */
const own = [fileURLToPath(new URL('../../..', import.meta.url)), path.dirname(realpathSync(process.execPath))];

export type Systemd = {
	/** A command prefix that starts a program under this systemd. Empty if the machine runs systemd itself. */
	readonly entrance: readonly string[];
	/** The control group that contains the groups of its units, as mounted on this machine. */
	readonly directory: string;
	readonly stop: () => Promise<void>;
};

/** Whether systemd is installed and can be started here. Prints a message if not, so that skipped tests are noticed. */
export function hasSystemd(): boolean {
	const found = existsSync(program) && process.getuid?.() === 0;
	if (!found) {
		console.warn('Tests are skipped that need systemd and root');
	}

	return found;
}

const mountPoint = (isMount: (line: string) => boolean): string | undefined =>
	readFileSync('/proc/self/mountinfo', 'utf8')
		.split('\n')
		.find((line) => isMount(line))
		?.split(' ', 5)[4];

/** Returns the mount point of control groups version 2. */
const unified = (): string | undefined => mountPoint((line) => line.includes(' - cgroup2 '));

/** Returns the mount points of the version 1 hierarchies that systemd needs. Undefined if one is missing. */
const separate = (): {readonly systemd: string; readonly devices: string} | undefined => {
	const [systemd, devices] = ['name=systemd', 'devices'].map((option) =>
		mountPoint((line) => line.includes(' - cgroup ') && line.split(' ').at(-1)!.split(',').includes(option)),
	);
	return systemd === undefined || devices === undefined ? undefined : {systemd, devices};
};

/** Whether a systemd with control groups version 1 can be started on this machine. */
export const hasOldGroups = (): boolean => !existsSync('/run/systemd/system') && separate() !== undefined;

/** Shell commands that mount only this version of control groups, which makes systemd use it. */
const groupMounts: Readonly<Record<1 | 2, string>> = {
	1: `mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/systemd /sys/fs/cgroup/devices
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
mount -t cgroup -o devices cgroup /sys/fs/cgroup/devices`,
	2: 'mount -t cgroup2 cgroup2 /sys/fs/cgroup',
};

type Options = {
	/** The version of control groups, for a systemd of the tests. */
	readonly version?: 1 | 2;
	/** The units that a systemd of the tests has, by name. Those without an instance are started. */
	readonly units?: Readonly<Record<string, string>>;
	/** Shell commands that run before a systemd of the tests starts, where nobody else sees its mounts. */
	readonly preparation?: string;
};

/** Returns a shell script that starts systemd in its own namespaces, where no other process sees its mounts. */
const script = (
	directory: string,
	visible: readonly string[],
	{version, preparation}: Required<Pick<Options, 'version' | 'preparation'>>,
): string => `set -e
mount --make-rprivate /
mount -t proc proc /proc
umount -l /sys/fs/cgroup
${groupMounts[version]}
mount -t tmpfs tmpfs /mnt
mkdir /mnt/tmp /mnt/dev
mount --rbind /tmp /mnt/tmp
mount -t tmpfs -o mode=1777 tmpfs /tmp
for one in ${visible.map((file) => `'${file}'`).join(' ')}; do
	case $one in /tmp/*) mkdir -p "$one"; mount --rbind "/mnt$one" "$one";; esac
done
cd /mnt/dev
mount -t tmpfs -o mode=755 tmpfs /mnt/dev
cd /mnt/dev
for node in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 \${node%:*} c 1 \${node#*:}; done
mknod -m 666 tty c 5 0
mkdir pts shm
chmod 1777 shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts pts
ln -s pts/ptmx ptmx
ln -s /proc/self/fd fd
cd /
mount --move /mnt/dev /dev
umount -l /mnt
mount -t tmpfs -o mode=755 tmpfs /run
${preparation}
exec env -i container=canhazgpu-test SYSTEMD_UNIT_PATH='${directory}/units' PATH=/usr/bin:/bin:/usr/sbin:/sbin ${program} \\
	--system --unit=tests.target --log-target=console --log-level=warning --show-status=no
`;

const childOf = (pid: number): number =>
	Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ', 1)[0]);

/** Removes a control group and its children as soon as they are empty. */
function removeGroups(directory: string): void {
	for (const entry of readdirSync(directory, {withFileTypes: true})) {
		if (entry.isDirectory()) {
			removeGroups(path.join(directory, entry.name));
		}
	}

	rmdirSync(directory);
}

/** @param visible - Directories in /tmp that stay visible in the namespaces, besides this checkout. */
export async function startSystemd(
	visible: readonly string[] = [],
	{version = 2, units = {}, preparation = ''}: Options = {},
): Promise<Systemd> {
	if (existsSync('/run/systemd/system')) {
		return {entrance: [], directory: unified() ?? '/sys/fs/cgroup/systemd', stop: async () => undefined};
	}

	const directory = mkdtempSync(path.join(tmpdir(), 'systemd-'));
	mkdirSync(path.join(directory, 'units'));
	const wanted = Object.keys(units).filter((name) => !name.includes('@'));
	const target = `[Unit]\nDescription=Tests\nDefaultDependencies=no\nWants=${wanted.join(' ')}\n`;
	for (const [name, text] of Object.entries({...units, 'tests.target': target})) {
		writeFileSync(path.join(directory, 'units', name), text);
	}

	writeFileSync(
		path.join(directory, 'inner'),
		script(directory, [directory, ...own, ...visible], {version, preparation}),
	);
	// The groups of systemd are below a group of their own. Version 2 is mounted for a moment if it is not mounted.
	const mounted = unified();
	const point = mounted ?? path.join(directory, 'groups');
	if (mounted === undefined) {
		mkdirSync(point);
		execFileSync('mount', ['-t', 'cgroup2', 'cgroup2', point]);
	}

	const name = `canhazgpu-test-${process.pid}-${path.basename(directory)}`;
	const group = path.join(point, name);
	const old = version === 1 ? separate()! : undefined;
	const groups = [group, ...(old === undefined ? [] : [path.join(old.systemd, name), path.join(old.devices, name)])];
	for (const made of groups) {
		mkdirSync(made);
	}

	const child = spawn(
		'sh',
		[
			'-c',
			'inner=$1; shift; for group do echo $$ > "$group/cgroup.procs" || exit; done; exec unshare --pid --mount --uts --ipc --cgroup --fork --kill-child sh "$inner"',
			'sh',
			path.join(directory, 'inner'),
			...groups,
		],
		{stdio: ['ignore', 'pipe', 'pipe'], detached: true},
	);
	let said = '';
	const listen = (text: string): void => {
		said += text;
	};

	child.stdout.setEncoding('utf8').on('data', listen);
	child.stderr.setEncoding('utf8').on('data', listen);

	const ended = once(child, 'exit');
	const stop = async (): Promise<void> => {
		if (child.exitCode === null && child.signalCode === null) {
			// When the first process of the pid namespace ends, all others end with it.
			const first = childOf(child.pid!);
			process.kill(first > 0 ? first : child.pid!, 'SIGKILL');
			await ended;
		}

		await eventually(() => {
			for (const made of groups.filter((each) => existsSync(each))) {
				removeGroups(made);
			}

			return true;
		});
		if (mounted === undefined) {
			execFileSync('umount', [point]);
		}

		rmSync(directory, {recursive: true});
	};

	try {
		let entrance: readonly string[] = [];
		await eventually(() => {
			if (child.exitCode !== null) {
				throw new Error(`Systemd did not start: ${said}`);
			}

			entrance = ['nsenter', '-t', String(childOf(child.pid!)), '-m', '-p', '-i', '-u', '-C', '--'];
			execFileSync('nsenter', [...entrance.slice(1), 'systemctl', '--quiet', 'is-active', 'tests.target'], {
				stdio: 'pipe',
			});
			return true;
		});
		return {entrance, directory: old === undefined ? group : path.join(old.systemd, name), stop};
	} catch (error) {
		await stop();
		throw new Error(`Systemd does not run: ${said}`, {cause: error});
	}
}
