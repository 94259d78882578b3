import type { PriceProblem } from '../api/costs.ts'
import { codeOf, orNull, reasonOf } from '../lib/errors.ts'
import { readText } from '../lib/files/read-file.ts'
import { lockForChange } from '../lib/files/change-file.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import type { ModelCosts } from './model-costs.ts'
import { type ModelCostsReading, readModelCosts } from './read-model-costs.ts'
import { chmodSync, constants, copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The content of a price file (null without a file), or the problem. */
export type PriceReading = ModelCostsReading | { readonly costs: null }

/** Most bytes of a price file. */
const mostBytes = 32 * 1024 * 1024

/** The path of the price file beside a database. */
export function priceFileOf(database: string): string {
  return join(dirname(database), 'model_costs.json')
}

/**
 * Takes the lock of a price file, for a change from reading to writing. Resolves with null if another process kept
 * it for `limitMs`; rejects with the system's error.
 */
export function lockPriceFile(path: string, limitMs: number): Promise<Disposable | null> {
  return lockForChange(path, limitMs)
}

/** The path of the shipped prices, which are in force without a file. A clone has them after `npm ci`. */
export function shippedPriceFile(): string {
  return fileURLToPath(new URL('../../dist/model_costs.json', import.meta.url))
}

/** Reads and checks a price file. Never throws. */
export function readPriceFile(path: string): PriceReading {
  try {
    const text = readText(path, mostBytes)
    return isShipped(text) ? { costs: JSON.parse(text) as ModelCosts } : readModelCosts(text)
  } catch (error) {
    // A missing folder counts as a missing file, too.
    return ['ENOENT', 'ENOTDIR'].includes(String(codeOf(error)))
      ? { costs: null }
      : unreadable(`It cannot be read: ${reasonOf(error)}.`)
  }
}

/** True for the shipped prices, which the build has checked: a second check would take 40 ms at each start. */
function isShipped(text: string): boolean {
  const path = shippedPriceFile()
  const size = statSync(path, { throwIfNoEntry: false })?.size
  return size === Buffer.byteLength(text) && orNull(() => readText(path, mostBytes)) === text
}

function unreadable(message: string): PriceReading {
  return { problem: { message, line: null, column: null } }
}

/** Returns the prices in force: those of the file, with the shipped list below them until the first sync. */
export function readPricesInForce(path: string, shippedPath: string = shippedPriceFile()): PriceReading {
  const file = readPriceFile(path)
  return 'problem' in file ? file : { costs: overShipped(file.costs, () => readCosts(shippedPath)) }
}

/** Returns the prices in a file; null without a file, or if the file is invalid. */
export function readCosts(path: string): ModelCosts | null {
  const reading = readPriceFile(path)
  return 'costs' in reading ? reading.costs : null
}

/** Returns the file's prices. Until the first sync, shipped prices fill the gaps. */
export function overShipped(
  costs: ModelCosts | null,
  readShipped: () => ModelCosts | null,
): ModelCosts | null {
  if (costs !== null && costs.synced_at !== null) return costs
  const shipped = readShipped()
  if (costs === null || shipped === null) return costs ?? shipped
  return {
    ...costs,
    source: costs.source ?? shipped.source,
    upstreams: { ...shipped.upstreams, ...costs.upstreams },
    models: { ...shipped.models, ...costs.models },
  }
}

/** Writes the shipped prices to a file if there is none, so that people find them. Never throws. */
export function placeShippedPrices(path: string): void {
  const temporary = `${path}.${process.pid}.first`
  try {
    if (existsSync(path)) return
    copyFileSync(shippedPriceFile(), temporary, constants.COPYFILE_EXCL)
    chmodSync(temporary, 0o600)
    // A link fails if another process was faster, and readers never see an incomplete file.
    linkSync(temporary, path)
  } catch {
    // The prices are also in force without a file.
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** The place of a flaw, to follow the file's name: `, line 2, column 7`; empty if unknown. */
export function placeInFile({ line, column }: PriceProblem): string {
  return line === null ? '' : `, line ${line}, column ${column ?? 1}`
}

/**
 * Replaces the file's content atomically, also if the machine loses power. The caller must hold the lock
 * ({@link lockPriceFile}). Throws the system's error.
 */
export function writePriceFile(path: string, costs: ModelCosts): void {
  replaceFile(path, priceFileText(costs), { flush: true })
}

/** The text of a price file, one model on a line, so that people can search and compare files. */
export function priceFileText(costs: ModelCosts): string {
  const { models, overrides, ...head } = costs
  const parts = [
    ...members(head, '  '),
    `  "models": ${entriesText(models)}`,
    `  "overrides": ${entriesText(overrides)}`,
  ]
  return `{\n${parts.join(',\n')}\n}\n`
}

function entriesText(entries: ModelCosts['models']): string {
  const lines = members(entries, '    ')
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n  }`
}

function members(object: object, indent: string): readonly string[] {
  return Object.entries(object).map(
    ([name, value]) => `${indent}${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  )
}
