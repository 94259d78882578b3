// Writes a price file over and over, as a `costs set` or a sync does, until it is killed.
import { writeSync } from 'node:fs'
import { firstBook } from '../../build/genai-prices-adapter.ts'
import { lockPriceFile, writePriceFile } from '../../src/pricing/price-file.ts'
import { waitForUpdate } from '@pydantic/genai-prices'

const [path = ''] = process.argv.slice(2)
const costs = firstBook((await waitForUpdate()) ?? [], { version: 'test', at: '2026-09-23T00:00:00Z' })
for (let round = 0; ; round += 1) {
  using lock = await lockPriceFile(path, 1000)
  if (lock === null) throw new Error('the lock of one that was killed is still held')
  const synced_at = new Date(round * 1000).toISOString()
  writePriceFile(path, { ...costs, synced_at })
  writeSync(1, '.')
}
