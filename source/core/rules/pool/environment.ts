import type {EnvironmentFacts} from '../../model/environment.js';
import type {Finding} from './diagnosis.js';

const directoryProblems = {deleted: 'was deleted', unreadable: 'cannot be read by this account'} as const;

const temporaryProblems = {
	absent: 'does not exist',
	unwritable: 'cannot be written by this account',
	full: 'is full',
} as const;

const procProblems = {
	absent: [
		'/proc is not mounted, so the account of this command and the jobs that are still running are unknown',
		'Mount it: mount -t proc proc /proc',
	],
	'processes-only': [
		'/proc has no /proc/sys, so a reboot of this machine cannot be detected',
		'Mount it without subset=pid. In a systemd unit: ProcSubset=all',
	],
	'own-only': [
		'/proc hides the processes of other accounts: their owners and commands are unknown',
		'Join the group that the mount option gid= of /proc names, or run canhazgpu as root.',
	],
} as const;

export function judgeEnvironment(facts: EnvironmentFacts): readonly Finding[] {
	const {stateDirectory, directory, proc, temporaryDirectory, unknownTimeZone} = facts;
	const problems: ReadonlyArray<readonly [isMissing: boolean, words: string, fix: string]> = [
		[
			!facts.hasAccount,
			`uid ${facts.uid ?? '?'} has no entry in the user database: it is shown as a number, and ssh cannot start`,
			'Add the account, for example as a line in /etc/passwd.',
		],
		[
			stateDirectory === undefined,
			'This account has no home directory, so canhazgpu can save nothing for it, not even a private pool',
			'Set HOME to a directory of your own.',
		],
		[
			stateDirectory !== undefined && !facts.canWriteState,
			`${stateDirectory ?? ''} cannot be written, so canhazgpu can save nothing for this account, not even a private pool`,
			'Set HOME or XDG_STATE_HOME to a directory of your own.',
		],
		[
			facts.hostname === '',
			'This machine has no host name: it is shown as localhost',
			'Set one: hostnamectl hostname NAME',
		],
		[
			!facts.hasMachineId,
			'/etc/machine-id is missing: this machine is recognized by its host name',
			'Create it while no GPU is reserved: systemd-machine-id-setup',
		],
		[
			directory !== 'usable',
			`The working directory ${directory === 'usable' ? '' : directoryProblems[directory]}`,
			'Change to another directory.',
		],
		[proc !== 'usable', ...(proc === 'usable' ? (['', ''] as const) : procProblems[proc])],
		[
			temporaryDirectory.state !== 'usable',
			`The directory for temporary files, ${temporaryDirectory.path}, ${temporaryDirectory.state === 'usable' ? '' : temporaryProblems[temporaryDirectory.state]}`,
			'Set TMPDIR to a directory that your jobs can write to. canhazgpu itself does not need one.',
		],
		[
			unknownTimeZone !== undefined,
			`The time zone TZ=${unknownTimeZone ?? ''} is unknown: times are shown in UTC`,
			'Set TZ to a name such as Europe/Berlin.',
		],
		[
			facts.logoutEndsJobs,
			'Logging out ends the jobs of run --detach: KillUserProcesses of systemd-logind is on, and lingering is off for this account',
			'To let your processes continue: loginctl enable-linger',
		],
		[
			facts.lacksTerminalType,
			'TERM is not set: output has no colors',
			'Set it to the type of your terminal, such as TERM=xterm-256color.',
		],
	];
	return problems
		.filter(([isMissing]) => isMissing)
		.map(([, words, fix]) => ({check: 'environment', level: 'warning', words, fix}));
}
