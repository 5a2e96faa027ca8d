declare module '*/page/index.html' {
	const files: ReadonlyArray<{
		readonly path: string;
		readonly type: string;
		/** Base64 of the contents in each encoding. */
		readonly br: string;
		readonly gzip: string;
		/** Whether the name contains a hash of the contents, so that browsers can cache the file forever. */
		readonly isImmutable: boolean;
	}>;
	export default files;
}
