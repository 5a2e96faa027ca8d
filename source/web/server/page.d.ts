/* The page stands for the files that it is bundled to. */

declare module '*/page/index.html' {
	const files: ReadonlyArray<{
		readonly path: string;
		readonly type: string;
		readonly text: string;
		readonly isImmutable: boolean;
	}>;
	export default files;
}
