/** The page as the bundler made it (.config/page.ts), embedded when the program is built. */
import {promisify} from 'node:util';
import {brotliCompress} from 'node:zlib';
import files from '../page/index.html';

export type PageFile = {
	readonly path: string;
	readonly type: string;
	readonly text: string;
	/** Whether its name has a hash of its contents, so that a browser need not ask for it again. */
	readonly isImmutable: boolean;
};

export const pageFiles: readonly PageFile[] = files;

const compress = promisify(brotliCompress);
const compressed = new Map<PageFile, Promise<Uint8Array<ArrayBuffer>>>();

const compressedOf = async ({text}: PageFile): Promise<Uint8Array<ArrayBuffer>> =>
	new Uint8Array(await compress(new TextEncoder().encode(text)));

/** The smallest form that browsers take. Made once each, when it is asked for. */
export async function brotliOf(file: PageFile): Promise<Uint8Array<ArrayBuffer>> {
	const made = compressed.get(file) ?? compressedOf(file);
	compressed.set(file, made);
	return made;
}
