import type { PriceProblem } from '../api/costs.ts'
import { codeOf, reasonOf } from '../lib/errors.ts'
import { readText } from '../lib/files/read-file.ts'
import { takeFileLock } from '../lib/files/file-lock.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import type { ModelCosts } from './model-costs.ts'
import { type ModelCostsReading, readModelCosts } from './read-model-costs.ts'
import { chmodSync, constants, copyFileSync, existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The content of the file at a path, null if there is none, or the reason why it cannot be one. */
export type PriceReading = ModelCostsReading | { readonly costs: null }

/** No real price file is larger. */
const mostBytes = 32 * 1024 * 1024

/** The path of the price file beside a database. */
export function priceFileOf(database: string): string {
  return join(dirname(database), 'model_costs.json')
}

/**
 * The lock of a price file, from reading to writing, for every process that changes it: a sync, the page, or
 * the command line. Null if another process held it for `limitMs`; rejects with the system's error.
 */
export function lockPriceFile(path: string, limitMs: number): Promise<Disposable | null> {
  return takeFileLock(`${path}.lock`, limitMs)
}

/** The prices that came with the program, which hold until there is a file. A checkout has them after `npm ci`. */
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

/** The build has checked the bundled prices; a second check takes 40 ms at each start. */
function isShipped(text: string): boolean {
  const path = shippedPriceFile()
  try {
    return statSync(path).size === Buffer.byteLength(text) && readText(path, mostBytes) === text
  } catch {
    return false
  }
}

function unreadable(message: string): PriceReading {
  return { problem: { message, line: null, column: null } }
}

/** The prices in force now. */
export function readPricesInForce(path: string, shippedPath: string = shippedPriceFile()): PriceReading {
  const file = readPriceFile(path)
  return 'problem' in file ? file : { costs: overShipped(file.costs, () => readCosts(shippedPath)) }
}

/** The prices in a file; null if there is none, or it is broken. */
export function readCosts(path: string): ModelCosts | null {
  const reading = readPriceFile(path)
  return 'costs' in reading ? reading.costs : null
}

/** The file's prices, with the program's own list below them until a sync replaces it. */
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

/** Writes the prices that came with the program to a file if there is none yet, for a person to find them. Never throws. */
export function placeShippedPrices(path: string): void {
  const temporary = `${path}.${process.pid}.first`
  try {
    if (existsSync(path)) return
    copyFileSync(shippedPriceFile(), temporary, constants.COPYFILE_EXCL)
    chmodSync(temporary, 0o600)
    // Linking fails if another process was quicker, and a reader never sees an incomplete file.
    linkSync(temporary, path)
  } catch {
    // The prices are in force without a file, too.
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** The place of a flaw, to follow the file's name: `, line 2, column 7`; empty if unknown. */
export function placeInFile({ line, column }: PriceProblem): string {
  return line === null ? '' : `, line ${line}, column ${column ?? 1}`
}

/** The place of a flaw in the form of editors and terminals: `:2:7`. */
export function placeForEditor({ line, column }: PriceProblem): string {
  return line === null ? '' : `:${line}:${column ?? 1}`
}

/**
 * Puts a new content in the file's place, whole or not at all, also if the machine loses power: a reader sees the old or
 * the new. To be called with the lock held (`lockPriceFile`). Throws the system's error.
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
