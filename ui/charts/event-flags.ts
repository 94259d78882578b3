import { type TimeFrame, isBetween, shareOfTime } from './time-frame.ts'

/** An event at an instant, in milliseconds since the Unix epoch. */
export interface ChartMark {
  readonly ms: number
  readonly words: string
  /** The event in one or two words. */
  readonly short: string
}

/** A label above a plot, for one event or for several events close to each other. */
type EventFlag = ReturnType<typeof flagOf>

const pxPerLetter = 6.2
const paddingPx = 10
const gapPx = 3

/**
 * Returns the labels of the marks in a frame, from left to right. No label overlaps another one or leaves the plot.
 */
export function eventFlags(
  marks: readonly ChartMark[],
  frame: TimeFrame,
  widthPx: number,
): readonly EventFlag[] {
  const flags: EventFlag[] = []
  for (const mark of marks.filter(({ ms }) => isBetween(frame, ms)).toSorted((a, b) => a.ms - b.ms)) {
    let flag = flagOf([mark], frame, widthPx)
    // A merged label has another text, which may now overlap the label to its left.
    for (let before = flags.at(-1); before !== undefined; before = flags.at(-1)) {
      if (before.leftPx + lengthOf(before.words) + gapPx <= flag.leftPx) break
      flags.pop()
      flag = flagOf([...before.marks, ...flag.marks], frame, widthPx)
    }
    flags.push(flag)
  }
  return flags
}

function flagOf(marks: readonly ChartMark[], frame: TimeFrame, widthPx: number) {
  const [first] = marks
  const words = marks.length === 1 && first !== undefined ? first.short : `${marks.length} events`
  const atPx = shareOfTime(frame, first?.ms ?? 0) * widthPx
  return { words, leftPx: Math.max(0, Math.min(atPx, widthPx - lengthOf(words))), marks }
}

function lengthOf(words: string): number {
  return words.length * pxPerLetter + paddingPx
}
