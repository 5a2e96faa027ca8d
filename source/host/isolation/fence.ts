/** Input and output of all isolation mechanisms. */
import path from 'node:path';
import type {IsolationProblem} from '../../core/model/isolation.js';
import {lookUpCommand} from '../tool/command.js';
import type {ProofNodes} from './witness.js';

export type FenceOptions = {
	/** Device directory: `/dev`, or a stand-in. */
	readonly devices: string;
	/** The nodes that are not to open. */
	readonly foreign: ReadonlyArray<{readonly file: string}>;
	/** Devices to check from inside before the job starts. */
	readonly proof: ProofNodes;
	/** Environment for finding programs. */
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Whether this process is root of the machine. */
	readonly isRoot: boolean;
};

/** A fence that was proved. */
export type Fenced = {
	readonly kind: 'fenced';
	/** Words that start a command inside. */
	readonly entrance: readonly string[];
	/** To be called when nothing is to be started inside any more. Never rejects. */
	readonly close: () => Promise<void>;
};

export type MakeFence = (options: FenceOptions) => Promise<Fenced | IsolationProblem>;

type Program = Extract<IsolationProblem, {kind: 'no-program'}>['program'];

/** Returns the path of a program, or reports that it is missing. */
export const findProgram = (program: Program, environment: FenceOptions['environment']): string | IsolationProblem => {
	const found = lookUpCommand(program, environment);
	return found.kind === 'found' ? path.resolve(found.file) : {kind: 'no-program', program};
};
