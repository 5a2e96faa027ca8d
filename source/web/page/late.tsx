/** Components that are loaded, with their style, when they are wanted for the first time. */
import {Component, type ComponentType} from 'preact';
import {focusHeading} from './router.js';

/** What is behind the address of a part that is imported late; the build puts it there. It is short, for each import has it. */
declare global {
	var again: string | undefined;
}

let failedImports = 0;

/** Makes the next import of any part ask for it again: browsers remember that a module could not be loaded, and go by its address. */
export function forgetFailedImports(): void {
	Object.assign(globalThis, {again: `?${failedImports++}`});
}

/** Waits between attempts to load, while the component is wanted; the last one is repeated. */
const retryMs = [500, 2000, 8000] as const;

type LateState = {readonly failures: number};

export async function loadStyle(address: string): Promise<void> {
	const link = document.createElement('link');
	link.rel = 'stylesheet';
	link.href = address;
	const {promise, resolve, reject} = Promise.withResolvers<undefined>();
	link.addEventListener('load', () => {
		resolve(undefined);
	});
	link.addEventListener('error', () => {
		link.remove();
		reject(new Error(`${address} cannot be loaded`));
	});
	document.head.append(link);
	await promise;
}

/**
@param load - Imports the component.
@param styleAddress - Of the style that the component needs besides that of the page.
@returns A component that stands for it while it is not there. What fails is tried again while it is shown.
*/
export function late<Props extends Record<string, unknown>>(
	load: () => Promise<ComponentType<Props>>,
	styleAddress?: string,
): ComponentType<Props> {
	let loaded: ComponentType<Props> | undefined;
	let style: Promise<void> | undefined;

	async function loadAll(): Promise<ComponentType<Props>> {
		style ??= styleAddress === undefined ? Promise.resolve() : loadStyle(styleAddress);
		try {
			const [component] = await Promise.all([load(), style]);
			return component;
		} catch (error) {
			forgetFailedImports();
			// A style that came is kept; one that did not is asked for again.
			await style.catch(() => {
				style = undefined;
			});
			throw error;
		}
	}

	return class extends Component<Props, LateState> {
		override state: LateState = {failures: 0};
		private timer: NodeJS.Timeout | undefined;
		private isGone = false;

		override componentDidMount(): void {
			focusHeading();
			if (loaded === undefined) {
				this.loadIn(0);
			}
		}

		override componentWillUnmount(): void {
			this.isGone = true;
			clearTimeout(this.timer);
		}

		override render(props: Props) {
			const {failures} = this.state;
			const Loaded = loaded;
			if (Loaded !== undefined) {
				return <Loaded {...props} />;
			}

			return failures === 0 ? (
				<p class="quiet">Loading…</p>
			) : (
				<p class="quiet" role="status">
					This part cannot be loaded now. It is tried again by itself.{' '}
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

		private loadIn(waitMs: number): void {
			this.timer = setTimeout(() => {
				void this.load();
			}, waitMs);
		}

		private async load(): Promise<void> {
			try {
				loaded ??= await loadAll();
				this.forceUpdate(focusHeading);
			} catch {
				if (this.isGone) {
					return;
				}

				const {failures} = this.state;
				this.setState({failures: failures + 1});
				this.loadIn(retryMs[Math.min(failures, retryMs.length - 1)]!);
			}
		}
	};
}
