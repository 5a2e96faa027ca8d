/** The files of the page, bundled and compressed by .config/page.ts, and embedded when the program is built. */
import {Buffer} from 'node:buffer';
import {gunzipSync} from 'node:zlib';
import type files from '../page/index.html';

export type PageFile = (typeof files)[number];

/** Content encodings, smallest first. Browsers accept Brotli only over https or from localhost. */
export const codings = ['br', 'gzip'] as const;

type Coding = (typeof codings)[number];

export const bytesOf = (file: PageFile, coding: Coding | undefined): Uint8Array<ArrayBuffer> =>
	coding === undefined ? gunzipSync(Buffer.from(file.gzip, 'base64')) : Buffer.from(file[coding], 'base64');

export {default as pageFiles} from '../page/index.html';
