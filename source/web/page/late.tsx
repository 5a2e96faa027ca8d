import {Component, type ComponentType} from 'preact';
import {focusHeading} from './router.js';

/** A suffix that the build appends to the address of every lazily imported file. */
declare global {
	var again: string | undefined;
}

let failedImports = 0;

/** Changes the address of later imports, because browsers do not request an address again after its import has failed. */
export function forgetFailedImports(): void {
	Object.assign(globalThis, {again: `?${failedImports++}`});
}

export async function loadStyle(name: string): Promise<void> {
	const link = document.createElement('link');
	link.rel = 'stylesheet';
	link.href = new URL(`late-${name}.css`, import.meta.url).href;
	document.head.append(link);
	await new Promise((resolve, reject) => {
		link.addEventListener('load', resolve);
		link.addEventListener('error', () => {
			link.remove();
			reject(new Error(name));
		});
	});
}

/** Creates a placeholder component. When it is shown, it loads the real component and its style, and tries again after a failure. */
export function late<Props extends Record<string, unknown>>(
	load: () => Promise<{readonly default: ComponentType<Props>}>,
	styleName: string,
): ComponentType<Props> {
	let Loaded: ComponentType<Props> | undefined;
	let style: Promise<void> | undefined;

	return class extends Component<Props> {
		private failures = 0;
		private timer: NodeJS.Timeout | undefined;
		private isGone = false;

		override componentDidMount(): void {
			focusHeading();
			if (Loaded === undefined) {
				void this.load();
			}
		}

		override componentWillUnmount(): void {
			this.isGone = true;
			clearTimeout(this.timer);
		}

		override render(props: Props) {
			if (Loaded !== undefined) {
				return <Loaded {...props} />;
			}

			return this.failures === 0 ? (
				<p class="quiet">Loading…</p>
			) : (
				<p class="quiet" role="status">
					This part cannot be loaded now. The page tries again automatically.{' '}
					<button
						type="button"
						class="text-button"
						onClick={() => {
							location.reload();
						}}
					>
						Reload the page
					</button>
				</p>
			);
		}

		private async load(): Promise<void> {
			style ??= loadStyle(styleName);
			try {
				[{default: Loaded}] = await Promise.all([load(), style]);
				this.forceUpdate(focusHeading);
			} catch {
				forgetFailedImports();
				// If the style could not be loaded, the next use requests it again.
				style.catch(() => {
					style = undefined;
				});
				if (this.isGone) {
					return;
				}

				const waitMs = Math.min(8000, 500 * 4 ** this.failures);
				this.failures++;
				this.forceUpdate();
				this.timer = setTimeout(() => {
					void this.load();
				}, waitMs);
			}
		}
	};
}
