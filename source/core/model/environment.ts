export type EnvironmentFacts = {
	readonly uid: number | undefined;
	readonly hasAccount: boolean;
	/** Undefined if there is no home directory. */
	readonly stateDirectory: string | undefined;
	readonly canWriteState: boolean;
	readonly hostname: string;
	readonly hasMachineId: boolean;
	readonly directory: 'usable' | 'deleted' | 'unreadable';
	/** Which parts of /proc are visible. `processes-only`: there is no /proc/sys. `own-only`: the processes of other accounts are hidden. */
	readonly proc: 'usable' | 'absent' | 'processes-only' | 'own-only';
	readonly temporaryDirectory: {readonly path: string; readonly state: 'usable' | 'absent' | 'unwritable' | 'full'};
	/** The value of TZ, if it is not a known time zone. */
	readonly unknownTimeZone: string | undefined;
	/** Whether systemd-logind ends the detached jobs of this account at its last logout. */
	readonly logoutEndsJobs: boolean;
	readonly lacksTerminalType: boolean;
};
