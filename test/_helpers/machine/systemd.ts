/**
Systemd for the tests: that of the machine, or where another program runs it, one of our own as the first process of namespaces of its own. It runs
nothing but one empty unit, and /tmp, /run and /dev are its own: with the units of a distribution it would empty the machine's /tmp.
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

/** What tests start: this checkout and its Node.js, wherever somebody cloned it. */
const own = [fileURLToPath(new URL('../../..', import.meta.url)), path.dirname(realpathSync(process.execPath))];

export type Systemd = {
	/** Words that start a command where it runs; none where it runs the machine. */
	readonly entrance: readonly string[];
	/** The group below which it makes those of its units, as mounted on this machine. */
	readonly directory: string;
	readonly stop: () => Promise<void>;
};

/** Whether it is installed, and may be started here. Says so where it is not: a skipped test shall not go unnoticed. */
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

/** Where control groups of version 2 are mounted. */
const unified = (): string | undefined => mountPoint((line) => line.includes(' - cgroup2 '));

/** Where those of version 1 are, of the hierarchies that systemd needs there; undefined where one is missing. */
const separate = (): {readonly systemd: string; readonly devices: string} | undefined => {
	const [systemd, devices] = ['name=systemd', 'devices'].map((option) =>
		mountPoint((line) => line.includes(' - cgroup ') && line.split(' ').at(-1)!.split(',').includes(option)),
	);
	return systemd === undefined || devices === undefined ? undefined : {systemd, devices};
};

/** Whether control groups of version 1 are here, so that a systemd of the tests can use them. */
export const hasOldGroups = (): boolean => !existsSync('/run/systemd/system') && separate() !== undefined;

/** Mounts control groups of this version alone: by that systemd tells which it is to use. */
const groupMounts: Readonly<Record<1 | 2, string>> = {
	1: `mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
mkdir /sys/fs/cgroup/systemd /sys/fs/cgroup/devices
mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd
mount -t cgroup -o devices cgroup /sys/fs/cgroup/devices`,
	2: 'mount -t cgroup2 cgroup2 /sys/fs/cgroup',
};

/** In namespaces of its own. Its mounts reach nobody else. */
const script = (directory: string, visible: readonly string[], version: 1 | 2): string => `set -e
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
exec env -i container=canhazgpu-test SYSTEMD_UNIT_PATH='${directory}/units' PATH=/usr/bin:/bin:/usr/sbin:/sbin ${program} \\
	--system --unit=tests.target --log-target=console --log-level=warning --show-status=no
`;

const childOf = (pid: number): number =>
	Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ', 1)[0]);

/** A group and those in it, once nothing runs in them. */
function removeGroups(directory: string): void {
	for (const entry of readdirSync(directory, {withFileTypes: true})) {
		if (entry.isDirectory()) {
			removeGroups(path.join(directory, entry.name));
		}
	}

	rmdirSync(directory);
}

/**
@param visible - Directories in /tmp that are seen in there, too, beside this checkout.
@param version - Of the control groups that it uses, where it is one of our own.
*/
export async function startSystemd(visible: readonly string[] = [], version: 1 | 2 = 2): Promise<Systemd> {
	if (existsSync('/run/systemd/system')) {
		return {entrance: [], directory: unified() ?? '/sys/fs/cgroup/systemd', stop: async () => undefined};
	}

	const directory = mkdtempSync(path.join(tmpdir(), 'systemd-'));
	mkdirSync(path.join(directory, 'units'));
	writeFileSync(path.join(directory, 'units/tests.target'), '[Unit]\nDescription=Tests\nDefaultDependencies=no\n');
	writeFileSync(path.join(directory, 'inner'), script(directory, [directory, ...own, ...visible], version));
	// Its groups are below one of its own. Where none of version 2 are mounted, they are for a moment.
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
			// The first process of its namespace of pids: with it all others end.
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
