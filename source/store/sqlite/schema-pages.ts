/**
The first page of a database, before SQLite reads it. There begins the list of its tables, which SQLite reads whole, whatever it is asked. Ours
has a few tables, so that its list fits into that page. One that goes on in other pages was made by others, and may lead back to itself, so
that SQLite would read for ever.
*/
import {Buffer} from 'node:buffer';
import {closeSync, constants, lstatSync, openSync, readSync} from 'node:fs';
import {changedByHand, databaseProblem} from './failures.js';

/** The offset of the page type in the first page, after the file header. */
const kindOffset = 100;

/** A page that has the rows themselves (SQLite's file format, "B-tree Pages"). */
const leafOfTable = 13;

const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/** A longer journal is refused: after each change it is emptied, so that it holds that of one killed process at most. */
const mostFrames = 20_000;

/** How every database begins. */
const magic = Buffer.from('SQLite format 3\0');

const bytes = Buffer.alloc(kindOffset + 1);

function withFile<Result>(path: string, work: (descriptor: number) => Result): Result | undefined {
	let descriptor: number;
	try {
		descriptor = openSync(path, constants.O_RDONLY + constants.O_NOFOLLOW + constants.O_NONBLOCK);
	} catch {
		// SQLite says what is wrong with it.
		return undefined;
	}

	try {
		return work(descriptor);
	} finally {
		closeSync(descriptor);
	}
}

/** Whether the first page at this position is a leaf; also for what is no first page of a database, as SQLite says of it then. */
const isLeafAt = (descriptor: number, position: number): boolean =>
	readSync(descriptor, bytes, 0, bytes.length, position) < bytes.length ||
	!bytes.subarray(0, magic.length).equals(magic) ||
	bytes[kindOffset] === leafOfTable;

/** Whether each first page that is in the journal is a leaf. */
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
Called before SQLite opens the database in this process: to close a file of its own accord ends the locks that SQLite has on it.

@throws CanhazgpuError when the list of tables does not fit into the first page.
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
