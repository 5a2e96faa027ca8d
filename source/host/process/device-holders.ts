import {readdirSync, readFileSync, readlinkSync} from 'node:fs';
import type {DeviceHolder, DeviceHolders, HolderState} from '../../core/model/device-holders.js';
import type {GrantedGpu} from '../../core/model/isolation.js';
import {codeOf} from '../../errors.js';
import {createUsers, ownUid} from '../accounts/users.js';
import {belongsTo, readDeviceNodes} from '../isolation/device-nodes.js';
import {runSystemTool} from '../tool/system-tool.js';
import {createProcessDescriber} from './details.js';
import {ownerOfProcess} from './files.js';
import {pidsIn, readStat, type ProcessStat} from './proc.js';

/** Returns whether a process has one of the files open. `unreadable`: this account may not read its open files. `gone`: the process has ended. */
const opensAny = (pid: number, files: ReadonlySet<string>): boolean | 'unreadable' | 'gone' => {
	const directory = `/proc/${pid}/fd`;
	let names: readonly string[];
	try {
		names = readdirSync(directory);
	} catch (error) {
		return codeOf(error) === 'EACCES' || codeOf(error) === 'EPERM' ? 'unreadable' : 'gone';
	}

	return names.some((name) => {
		try {
			return files.has(readlinkSync(`${directory}/${name}`));
		} catch {
			// The file was closed in the meantime.
			return false;
		}
	});
};

const isKernelThread = (pid: number, {parentPid}: ProcessStat): boolean => pid === 2 || parentPid === 2;

const stateOf = (stat: ProcessStat | undefined): HolderState => {
	if (stat === undefined || /^x$/iv.test(stat.state)) {
		return 'absent';
	}

	if (stat.state === 'Z') {
		return stat.threads > 1 ? 'leaderless' : 'zombie';
	}

	return stat.state === 'D' ? 'waiting' : /^t$/iv.test(stat.state) ? 'stopped' : 'running';
};

/** Whether a process is in an inner pid namespace: `NSpid:` in /proc/PID/status then has a pid for each namespace (proc_pid_status(5)). */
const isInOtherPidNamespace = (pid: number): boolean | undefined => {
	try {
		const pids = /^NSpid:\s*(?<pids>\d[\s\d]*)$/mv.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.groups?.[
			'pids'
		];
		return pids === undefined ? undefined : pids.trim().split(/\s+/v).length > 1;
	} catch {
		return undefined;
	}
};

/**
Returns the processes that have a device of this GPU open, by pid. Reads the open files of all processes that this account may inspect (0.1 ms each).
@param gpu - The GPU as reported by a scan.
@param listed - Pids from the GPU tool, which are always reported.
@param root - Directory with /dev and /sys of the GPUs. Undefined if the GPUs have no devices.
*/
export async function findDeviceHolders(
	gpu: GrantedGpu,
	listed: readonly number[],
	root: string | undefined,
): Promise<DeviceHolders> {
	const nodes = root === undefined ? [] : readDeviceNodes(root).filter((node) => belongsTo(node, gpu));
	const devices = nodes.filter(({kind}) => kind !== 'part').map(({file}) => file);
	const files = new Set(devices);
	const opened = new Map<number, boolean | undefined>();
	const unreadable: number[] = [];
	for (const pid of files.size === 0 ? [] : pidsIn()) {
		const hasOpen = opensAny(pid, files);
		const stat = hasOpen === 'unreadable' ? readStat(pid) : undefined;
		if (hasOpen === true) {
			opened.set(pid, true);
		} else if (typeof stat === 'object' && !isKernelThread(pid, stat) && stateOf(stat) !== 'zombie') {
			unreadable.push(pid);
		}
	}

	for (const pid of listed) {
		if (!opened.has(pid)) {
			opened.set(pid, files.size === 0 || unreadable.includes(pid) ? undefined : false);
		}
	}

	const users = createUsers();
	const details = await createProcessDescriber({users, run: runSystemTool})(opened.keys());
	const holders = [...opened].map(([pid, hasOpen]): DeviceHolder => {
		const stat = readStat(pid);
		const uid = ownerOfProcess(pid);
		return {
			...details.get(pid),
			pid,
			hasOpen,
			state: stateOf(typeof stat === 'object' ? stat : undefined),
			isInOtherPidNamespace: isInOtherPidNamespace(pid),
			isOwn: uid !== undefined && uid === ownUid(),
		};
	});
	const uids = [...new Set(unreadable.map((pid) => ownerOfProcess(pid)))].filter((uid) => uid !== undefined);
	return {
		devices,
		holders: holders.toSorted((a, b) => a.pid - b.pid),
		unreadable: {
			count: unreadable.length,
			users: (await Promise.all(uids.map(async (uid) => users.nameOf(uid)))).filter((name) => name !== undefined),
		},
	};
}
