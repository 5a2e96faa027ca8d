/** Facts about the environment of this process that most programs take for granted, and that a container or a CI runner can lack. */
export type EnvironmentFacts = {
	readonly uid: number | undefined;
	/** Whether the user database has a name for the uid. */
	readonly hasAccount: boolean;
	/** The directory where this account keeps its state. Undefined where there is no home directory. */
	readonly stateDirectory: string | undefined;
	readonly canWriteState: boolean;
	/** Empty where the machine has no name. */
	readonly hostname: string;
	/** Whether /etc/machine-id, or D-Bus's copy of it, holds an id. */
	readonly hasMachineId: boolean;
	readonly directory: 'usable' | 'deleted' | 'unreadable';
	/** `processes-only` has no /proc/sys, `own-only` hides the processes of other accounts. */
	readonly proc: 'usable' | 'absent' | 'processes-only' | 'own-only';
	readonly temporaryDirectory: {readonly path: string; readonly state: 'usable' | 'absent' | 'unwritable' | 'full'};
	/** The value of TZ, where it names no known time zone. */
	readonly unknownTimeZone: string | undefined;
	/** Whether the program runs on a terminal whose type is unknown, because TERM is not set. */
	readonly lacksTerminalType: boolean;
};
