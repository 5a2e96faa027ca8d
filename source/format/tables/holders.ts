import type {HolderState} from '../../core/model/device-holders.js';
import type {HolderAdvice, HoldersReport, MemoryHolder} from '../../core/rules/pool/memory-holders.js';
import {maskSecrets} from '../../core/rules/processes/secrets.js';
import {counted, mebibytes} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Sacrifices} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const longestCommand = 120;
const longestName = 40;

const stateText: Readonly<Record<HolderState, string>> = {
	running: 'runs',
	stopped: 'stopped',
	waiting: 'hangs in the kernel',
	leaderless: 'its main thread ended',
	zombie: 'zombie',
	absent: 'not seen here',
};

const name = (text: string | undefined): string => (text === undefined ? '-' : shorten(sanitize(text), longestName));

const commandOf = ({commandLine, name: program}: MemoryHolder): string => {
	const text = commandLine ?? program;
	return text === undefined ? '-' : shorten(sanitize(maskSecrets(text)), longestCommand);
};

const whereOf = ({containerId, isInOtherPidNamespace}: MemoryHolder): string =>
	containerId === undefined
		? isInOtherPidNamespace === true
			? 'other pid namespace'
			: '-'
		: `container ${sanitize(containerId)}`;

const deviceText = ({hasOpen}: MemoryHolder): string =>
	hasOpen === undefined ? 'unknown' : hasOpen ? 'open' : 'not open';

const pidList = (pids: readonly number[]): string => pids.join(' ');

function adviceText(advice: HolderAdvice, index: number): string {
	switch (advice.kind) {
		case 'nothing-held': {
			return 'No process holds memory. The driver itself uses the memory.';
		}

		case 'end-own': {
			return `This process is yours, although the GPU tool does not list it. If you no longer need it, end it: kill ${pidList(advice.pids)}`;
		}

		case 'ask': {
			const who = advice.user === undefined ? 'an unknown account' : name(advice.user);
			return `Ask ${who} whether ${advice.pids.length === 1 ? 'process' : 'processes'} ${pidList(advice.pids)} can be ended.`;
		}

		case 'stop-container': {
			const id = sanitize(advice.containerId);
			return `${advice.pids.length === 1 ? 'Process' : 'Processes'} ${pidList(advice.pids)} in a container: docker ps --filter id=${id}, then docker stop ${id}`;
		}

		case 'stopped': {
			return `Stopped, but still holds its memory. Continue it (fg, or kill -CONT ${pidList(advice.pids)}), or end it.`;
		}

		case 'stuck': {
			return `Stuck in the kernel, where signals have no effect (${pidList(advice.pids)}). If this persists, the driver is stuck: check dmesg, and reboot if necessary.`;
		}

		case 'zombie': {
			return `Process ${advice.pid} has ended, but its parent has not reaped it${advice.parentPid === undefined ? '' : `: end process ${advice.parentPid}`}.`;
		}

		case 'out-of-sight': {
			return `The GPU tool lists PID ${pidList(advice.pids)}, not visible from here: look on the host, not in a container.`;
		}

		case 'look-as-root': {
			const users = advice.users.length === 0 ? '' : ` of ${advice.users.map((user) => name(user)).join(', ')}`;
			return `The open files of ${counted(advice.count, 'process', 'processes')}${users} cannot be read. To include them: sudo canhazgpu who ${index}`;
		}

		case 'no-devices': {
			return 'The device of this GPU is unknown here, so only the processes that the GPU tool lists are shown.';
		}

		case 'listed': {
			const [subject, end] = advice.pids.length === 1 ? ['Process', 'the process ends'] : ['Processes', 'they end'];
			return `${subject} ${pidList(advice.pids)} may hold more memory than the GPU tool shows. The memory is freed when ${end}.`;
		}

		case 'kept-by-driver': {
			return `No process has it open: the driver keeps the memory. When nobody uses the GPU, an administrator can reset it: sudo nvidia-smi --gpu-reset -i ${index}`;
		}
	}
}

const sacrifices: Sacrifices = [
	['COMMAND', 16],
	['WHERE', 0],
	['COMMAND', 0],
];

/** @param reservedBy - The holder's name. Empty without a reservation. */
export function holdersText(
	report: HoldersReport,
	reservedBy: readonly string[],
	paint: Paint,
	width: number | undefined,
): string {
	const {index, memoryUsedMiB, listedMiB, holders, advice} = report;
	const used = memoryUsedMiB === undefined ? 'the memory in use is unknown' : `${mebibytes(memoryUsedMiB)} in use`;
	const listed =
		listedMiB === undefined
			? 'the memory of its processes is unknown'
			: `${mebibytes(listedMiB)} of it by listed processes`;
	const owner =
		reservedBy.length === 0 ? 'not reserved' : `reserved by ${reservedBy.map((each) => name(each)).join(', ')}`;
	const table = ruledTable(
		['PID', 'USER', 'STATE', 'DEVICE', 'LISTED', 'MEMORY', 'WHERE', 'COMMAND'],
		holders.map((holder) => [
			String(holder.pid),
			name(holder.user),
			holder.isObserver ? 'only observes' : stateText[holder.state],
			deviceText(holder),
			holder.isListed ? 'yes' : {text: 'no', paint: paint.unreserved},
			holder.memoryUsedMiB === undefined ? '-' : mebibytes(holder.memoryUsedMiB),
			whereOf(holder),
			commandOf(holder),
		]),
		paint,
		{width, sacrifices},
	);
	return [
		`GPU ${index}: ${used}, ${listed}; ${owner}`,
		...(holders.length === 0 ? [] : [table]),
		...advice.map((each) => `→ ${adviceText(each, index)}`),
	].join('\n');
}

export const holdersJson = (
	{index, memoryUsedMiB, listedMiB, devices, holders, unreadable, advice}: HoldersReport,
	reservedBy: readonly string[],
) => ({
	gpu_id: index,
	reserved_by: reservedBy,
	memory_used_mib: memoryUsedMiB,
	memory_listed_mib: listedMiB,
	devices,
	processes: holders.map((holder) => ({
		pid: holder.pid,
		parent_pid: holder.parentPid,
		user: holder.user,
		name: holder.name,
		command: holder.commandLine === undefined ? undefined : maskSecrets(holder.commandLine),
		state: holder.state,
		has_device_open: holder.hasOpen,
		listed: holder.isListed,
		observer: holder.isObserver,
		memory_used_mib: holder.memoryUsedMiB,
		container_id: holder.containerId,
		other_pid_namespace: holder.isInOtherPidNamespace,
	})),
	unreadable_processes: unreadable.count,
	unreadable_users: unreadable.users,
	advice: advice.map((each) => ({kind: each.kind, words: adviceText(each, index)})),
});
