import { styleText } from 'node:util'

/** The meanings of colours. Words or signs beside a colour say the same. */
export type Tone = 'plain' | 'good' | 'failed' | 'left' | 'faint'

/** The style of printed lines. */
export interface LineStyle {
  /** Columns that a line may take. */
  readonly width: number
  readonly color: boolean
  /** Milliseconds since the Unix epoch; times of other days are shown with their date. */
  readonly nowMs: number
}

const formats = { good: 'green', failed: 'red', left: 'yellow', faint: 'dim' } as const

/** The text in the tone's colour, if the terminal shows any. */
export function paint(tone: Tone, text: string, color: boolean): string {
  return !color || tone === 'plain' ? text : styleText(formats[tone], text, { validateStream: false })
}
