declare module '*/page/index.html' {
	const files: ReadonlyArray<{
		readonly path: string;
		readonly type: string;
		/** The contents in each encoding, as Base64. */
		readonly br: string;
		readonly gzip: string;
		/** Whether the name contains a hash of the contents. Browsers can cache such a file forever. */
		readonly isImmutable: boolean;
	}>;
	export default files;
}
