/**
Checks the first page of a database before SQLite opens it. There begins the list of tables, which SQLite always reads completely. Our list fits
into that page. A list that continues in other pages is foreign, and could lead back to itself, so that SQLite would read forever.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, lstatSync, openSync, readSync} from 'node:fs';
import {changedByHand, databaseProblem} from './failures.js';

/** The offset of the page type in the first page, after the file header. */
const kindOffset = 100;

/** A page that contains the rows themselves (SQLite's file format, "B-tree Pages"). */
const leafOfTable = 13;

const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/** A longer journal is refused. The journal is emptied after each change, so it contains the change of at most one killed process. */
const mostFrames = 20_000;

/** The start of every database. */
const magic = Buffer.from('SQLite format 3\0');

const bytes = Buffer.alloc(kindOffset + 1);

function withFile<Result>(path: string, work: (descriptor: number) => Result): Result | undefined {
	let descriptor: number;
	try {
		descriptor = openSync(path, constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK);
	} catch {
		// SQLite reports what is wrong.
		return undefined;
	}

	try {
		return work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Whether the first page at this position is a leaf. True for anything that is not a database, which SQLite then reports. */
const isLeafAt = (descriptor: number, position: number): boolean =>
	readSync(descriptor, bytes, 0, bytes.length, position) < bytes.length ||
	!bytes.subarray(0, magic.length).equals(magic) ||
	bytes[kindOffset] === leafOfTable;

/** Whether each first page in the journal is a leaf. */
const isLeafInJournal = (descriptor: number): boolean => {
	if (readSync(descriptor, bytes, 0, walHeaderBytes, 0) < walHeaderBytes) {
		return true;
	}

	const frameBytes = frameHeaderBytes + bytes.readUInt32BE(8);
	for (let frame = 0; frame < mostFrames; frame++) {
		const position = walHeaderBytes + frame * frameBytes;
		if (readSync(descriptor, bytes, 0, 4, position) < 4) {
			return true;
		}

		if (bytes.readUInt32BE() === 1 && !isLeafAt(descriptor, position + frameHeaderBytes)) {
			return false;
		}
	}

	return false;
};

/**
Must be called before this process opens the database, because closing any descriptor of a file releases SQLite's locks on it.
@throws CanhazgpuError if the list of tables does not fit into the first page.
*/
export function checkSchemaPages(path: string): void {
	const journal = `${path}-wal`;
	const hasJournal = (lstatSync(journal, {throwIfNoEntry: false})?.size ?? 0) > 0;
	const isShort =
		withFile(path, (descriptor) => isLeafAt(descriptor, 0)) !== false &&
		(!hasJournal || withFile(journal, isLeafInJournal) !== false);
	if (!isShort) {
		throw databaseProblem(path, ['has a list of tables that canhazgpu did not make', changedByHand]);
	}
}
