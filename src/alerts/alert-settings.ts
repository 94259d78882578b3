import { readFileSync, rmSync } from 'node:fs'
import type { AlertSetting } from '../api/alerts.ts'
import { placeInJson, readJson } from '../json/json-text.ts'
import { CodedError, codeOf, messageOf } from '../lib/errors.ts'
import { replaceFile } from '../lib/replace-file.ts'
import * as json from '../options/json-check.ts'
import { type AlertCode, alertRules, ruleList } from './alert-rules.ts'

/** Why settings were not changed. */
export class AlertSettingsError extends CodedError<'broken_alerts_file' | 'alerts_not_kept'> {}

/** By the codes of the rules; what is absent is as usual. */
export type AlertSettings = Readonly<Partial<Record<AlertCode, Partial<AlertSetting>>>>

type Checks = { readonly [Code in AlertCode]: json.JsonCheck<Partial<AlertSetting> | undefined> }

/** What a person may write: in `alerts.json`, or as the body of a change. */
function check(remarks: boolean): json.JsonCheck<AlertSettings> {
  const rules = ruleList.map(
    ([
      code,
      {
        threshold: { min, max, unit },
      },
    ]) => {
      const threshold = json.only(
        `a number from ${min} to ${max} (${unit})`,
        (value): value is number => typeof value === 'number' && value >= min && value <= max,
      )
      const setting = json.object<Partial<AlertSetting>>(
        { on: json.optional(json.flag), threshold: json.optional(threshold) },
        { remarks },
      )
      return [code, json.optional(setting)] as const
    },
  )
  return json.object<AlertSettings>(Object.fromEntries(rules) as Checks, { remarks })
}

const inFile = check(true)
export const alertChange: json.JsonCheck<AlertSettings> = check(false)

/** The file of the rules' settings. Anybody may edit it: while it is broken, the last that could be read go on. */
export class AlertSettingsFile {
  readonly path: string
  /** The text that was read last; null if there was no file. */
  #seen: string | null | undefined
  settings: AlertSettings = {}
  /** What is wrong with the file; null if it can be read, or there is none. */
  problem: string | null = null

  constructor(path: string) {
    this.path = path
  }

  /** Reads the file again; says if it is another one than before. Never throws. */
  look(): boolean {
    const reading = readText(this.path)
    const text = reading instanceof Error ? String(reading) : reading
    if (text === this.#seen) return false
    const isFirst = this.#seen === undefined
    this.#seen = text
    const read = reading instanceof Error ? reading : settingsIn(reading)
    this.problem = read instanceof Error ? `${this.path}${read.message}` : null
    if (!(read instanceof Error)) {
      this.settings = read
      this.#keepGood(reading === null)
    } else if (isFirst) {
      const good = readText(this.#goodPath)
      const settings = typeof good === 'string' ? settingsIn(good) : {}
      this.settings = settings instanceof Error ? {} : settings
    }
    return true
  }

  of(code: AlertCode): AlertSetting {
    return { on: true, threshold: alertRules[code].threshold.usual, ...this.settings[code] }
  }

  /** Throws {@link AlertSettingsError}: nothing writes over a file that somebody has to mend. */
  change(change: AlertSettings): void {
    this.look()
    if (this.problem !== null) {
      throw new AlertSettingsError('broken_alerts_file', `${this.problem} It has to be mended first.`)
    }
    const changed = Object.entries(change).map(([code, setting]) => [
      code,
      { ...this.settings[code as AlertCode], ...setting },
    ])
    const all = { ...this.settings, ...(Object.fromEntries(changed) as AlertSettings) }
    try {
      replaceFile(this.path, `${JSON.stringify(all, null, 2)}\n`)
    } catch (error) {
      throw new AlertSettingsError('alerts_not_kept', `${this.path} cannot be written: ${messageOf(error)}.`)
    }
    this.look()
  }

  get #goodPath(): string {
    return `${this.path}.good`
  }

  #keepGood(isUsual: boolean): void {
    try {
      if (isUsual) rmSync(this.#goodPath, { force: true })
      else replaceFile(this.#goodPath, JSON.stringify(this.settings))
    } catch {
      // They hold without it, too.
    }
  }
}

/** Null if there is no file. */
function readText(path: string): string | null | Error {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? null : new Error(` cannot be read: ${messageOf(error)}.`)
  }
}

/** The message of an error goes behind the file's name. */
function settingsIn(text: string | null): AlertSettings | Error {
  if (text === null) return {}
  const content = text.replace(/^\uFEFF/, '')
  const reading = readJson(content)
  const flawAt = (line: number | null, column: number | null, words: string): Error =>
    new Error(`${line === null ? '' : `, line ${line}, column ${column ?? 1}`}: ${words}`)
  if ('message' in reading) return flawAt(reading.line, reading.column, reading.message)
  try {
    return inFile(reading.value)
  } catch (error) {
    if (!(error instanceof json.JsonValueError)) throw error
    const { path, flaw, at } = error
    const { line, column } = placeInJson(content, path, at)
    return flawAt(line, column, `${path.length === 0 ? 'The file' : json.pathText(path)} ${flaw}.`)
  }
}
