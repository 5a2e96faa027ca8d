export const stringWidth: (text: string) => number;
