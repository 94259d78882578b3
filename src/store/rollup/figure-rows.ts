import { saturatedNumber } from '../../lib/saturated-number.ts'
import { VarintReader, VarintWriter } from '../../lib/packed-numbers.ts'
import { type Figures, measureNames, type Distribution, sumColumns } from './rollup-figures.ts'

/** The columns of figures in both tables of rollups, in the order of {@link addFigures}. */
export const figureColumns = [...sumColumns, 'spreads'].join(', ')

/** Precision of a sum of inverses: it is kept as a whole number of these parts. */
const inversePart = 1e-11

/** Adds a row of {@link figureColumns}. */
export function addFigures(figures: Figures, row: readonly unknown[]): void {
  for (let i = 0; i < figures.sums.length; i++) figures.sums[i] = (figures.sums[i] ?? 0) + Number(row[i])
  const spreads = row[sumColumns.length]
  if (spreads instanceof Uint8Array) addDistributionBytes(figures, spreads)
}

export function isMeasured({ spreads }: Figures): boolean {
  return measureNames.some((measure) => spreads[measure].count > 0)
}

/** The spreads of a row of the rollups; `null` if nothing was measured. */
export function spreadBytes(figures: Figures): Uint8Array | null {
  if (!isMeasured(figures)) return null
  writer.clear()
  for (const measure of measureNames) write(figures.spreads[measure], writer)
  return writer.toBytes()
}

/** Used again for each row. */
const writer = new VarintWriter()

/** Adds spreads that `spreadBytes` wrote. Throws a `RangeError` if the bytes are not such. */
export function addDistributionBytes(figures: Figures, bytes: Uint8Array): void {
  const reader = new VarintReader(bytes)
  for (const measure of measureNames) addFrom(reader, figures.spreads[measure])
}

function write(spread: Distribution, to: VarintWriter): void {
  to.write(spread.count)
  if (spread.count === 0) return
  to.write(saturatedNumber(spread.sum))
  // Most cells have one call: its value says the rest.
  if (spread.count === 1) return
  to.write(spread.min)
  to.write(spread.max)
  to.write(saturatedNumber(Math.round(spread.inverseSum / inversePart)))
  spread.histogram.writeTo(to)
}

function addFrom(reader: VarintReader, spread: Distribution): void {
  const count = reader.read()
  if (count === 0) return
  if (count === 1) {
    spread.add(reader.read())
    return
  }
  spread.count += count
  spread.sum += reader.read()
  spread.min = Math.min(spread.min, reader.read())
  spread.max = Math.max(spread.max, reader.read())
  spread.inverseSum += reader.read() * inversePart
  spread.histogram.addFrom(reader)
}
