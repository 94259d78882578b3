// Writes the prices that the package ships, for where there has been no sync yet: dist/model_costs.json, or the path given.
import { chmodSync, copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitForUpdate } from '@pydantic/genai-prices'
import { firstBook } from './genai-prices-adapter.ts'
import { priceFileText, shippedPriceFile, writePriceFile } from '../src/pricing/price-file.ts'
import { readModelCosts } from '../src/pricing/read-model-costs.ts'

/** When the version of the list was published that package.json names. */
const published = { version: '0.1.8', at: '2026-09-23T10:11:04Z' }

const listFolder = dirname(dirname(fileURLToPath(import.meta.resolve('@pydantic/genai-prices'))))
const { default: manifest } = (await import(join(listFolder, 'package.json'), {
  with: { type: 'json' },
})) as { default: { version: string } }
if (manifest.version !== published.version) {
  throw new Error(`genai-prices is ${manifest.version}: say in build/first-book.ts when it was published`)
}
const providers = await waitForUpdate()
if (providers === null) throw new Error('genai-prices has no list in it')
const costs = firstBook(providers, published)
const reading = readModelCosts(priceFileText(costs))
if ('problem' in reading) throw new Error(`the first prices are not sound: ${reading.problem.message}`)
const path = process.argv[2] ?? shippedPriceFile()
mkdirSync(dirname(path), { recursive: true })
writePriceFile(path, costs)
chmodSync(path, 0o644)
// The list's licence goes with it.
copyFileSync(join(listFolder, 'LICENSE'), join(dirname(path), 'model_costs.LICENSE'))
