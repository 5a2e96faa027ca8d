/* The page stands for the files that it is bundled to. */

declare module '*/page/index.html' {
	const files: ReadonlyArray<{
		readonly path: string;
		readonly type: string;
		/** Its contents in the codings in which it is sent, in base64. */
		readonly br: string;
		readonly gzip: string;
		/** Whether its name has a hash of its contents, so that a browser need not ask for it again. */
		readonly isImmutable: boolean;
	}>;
	export default files;
}
