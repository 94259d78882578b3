import { saturatedNumber } from '../../lib/saturated-number.ts'
import { VarintReader, VarintWriter } from '../../lib/packed-numbers.ts'
import { type CallSums, measureNames, type Distribution, sumColumns } from './call-sums.ts'

/** The columns of a row of `sums`, in the order of {@link addSumRow}. */
export const sumRowColumns = [...sumColumns, 'distributions'].join(', ')

/** The unit in which a sum of inverses is stored. */
const inversePart = 1e-11

/** Adds a row of {@link sumRowColumns} to sums. */
export function addSumRow(sums: CallSums, row: readonly unknown[]): void {
  for (let i = 0; i < sums.totals.length; i++) sums.totals[i] = (sums.totals[i] ?? 0) + Number(row[i])
  const distributions = row[sumColumns.length]
  if (distributions instanceof Uint8Array) addDistributionBytes(sums, distributions)
}

/** True if the calls have a value of any measure. */
export function isMeasured({ distributions }: CallSums): boolean {
  return measureNames.some((measure) => distributions[measure].count > 0)
}

/** The distributions of a row of the rollups; `null` if nothing was measured. */
export function distributionBytes(sums: CallSums): Uint8Array | null {
  if (!isMeasured(sums)) return null
  writer.clear()
  for (const measure of measureNames) write(sums.distributions[measure], writer)
  return writer.toBytes()
}

/** Reused for each row. */
const writer = new VarintWriter()

/** Adds distributions from `distributionBytes`. Throws `RangeError` for other bytes. */
export function addDistributionBytes(sums: CallSums, bytes: Uint8Array): void {
  const reader = new VarintReader(bytes)
  for (const measure of measureNames) addFrom(reader, sums.distributions[measure])
}

function write(distribution: Distribution, to: VarintWriter): void {
  to.write(distribution.count)
  if (distribution.count === 0) return
  to.write(saturatedNumber(distribution.sum))
  // Most cells have one call, and its value is enough.
  if (distribution.count === 1) return
  to.write(distribution.min)
  to.write(distribution.max)
  to.write(saturatedNumber(Math.round(distribution.inverseSum / inversePart)))
  distribution.histogram.writeTo(to)
}

function addFrom(reader: VarintReader, distribution: Distribution): void {
  const count = reader.read()
  if (count === 0) return
  if (count === 1) {
    distribution.add(reader.read())
    return
  }
  distribution.count += count
  distribution.sum += reader.read()
  distribution.min = Math.min(distribution.min, reader.read())
  distribution.max = Math.max(distribution.max, reader.read())
  distribution.inverseSum += reader.read() * inversePart
  distribution.histogram.addFrom(reader)
}
