/** The line above a part of the page: its heading, and what belongs to that. */
import type {ComponentChildren} from 'preact';

type SectionHeadProps = {readonly children: ComponentChildren};

export const SectionHead = ({children}: SectionHeadProps) => <div class="section-head">{children}</div>;
