/** What a colour stands for, always beside words or signs that say the same. */
export type Tone = 'plain' | 'failed' | 'left' | 'faint'

const colors: Readonly<Record<Tone, string>> = {
  plain: '',
  failed: '\x1b[31m',
  left: '\x1b[33m',
  faint: '\x1b[2m',
}
const endOfColor = '\x1b[0m'

/** The text in the tone's colour, where the terminal shows any. */
export function paint(tone: Tone, text: string, color: boolean): string {
  return !color || tone === 'plain' ? text : `${colors[tone]}${text}${endOfColor}`
}
