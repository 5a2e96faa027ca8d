/** The page as the bundler made it (.config/page.js), embedded when the program is built. */
import files from '../page/index.html';

export type PageFile = {
	readonly path: string;
	readonly type: string;
	readonly text: string;
	/** Whether its name has a hash of its contents, so that a browser need not ask for it again. */
	readonly isImmutable: boolean;
};

export const pageFiles: readonly PageFile[] = files;
