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
  const rules = ruleList.map(([code, rule]) => {
    const { min, max, unit } = rule.threshold
    const threshold = json.only(
      `a number from ${min} to ${max} (${unit})`,
      (value): value is number => typeof value === 'number' && value >= min && value <= max,
    )
    const setting = { on: json.optional(json.flag), threshold: json.optional(threshold) }
    return [code, json.optional(json.object<Partial<AlertSetting>>(setting, { remarks }))] as const
  })
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
    const { text, settings, problem } = readSettings(this.path)
    if (text === this.#seen) return false
    const isFirst = this.#seen === undefined
    this.#seen = text
    this.problem = problem
    if (problem === null) {
      this.settings = settings
      this.#keepGood(text)
    } else if (isFirst) this.settings = readSettings(this.#goodPath).settings
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
    const all: Record<string, Partial<AlertSetting>> = { ...this.settings }
    for (const [code, setting] of Object.entries(change)) all[code] = { ...all[code], ...setting }
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

  #keepGood(text: string | null): void {
    try {
      if (text === null) rmSync(this.#goodPath, { force: true })
      else replaceFile(this.#goodPath, text)
    } catch {
      // They hold without it, too.
    }
  }
}

interface ReadSettings {
  /** Null if there is no file; why not, if it cannot be read. */
  readonly text: string | null
  /** As usual, if there are none or none that can be read. */
  readonly settings: AlertSettings
  readonly problem: string | null
}

/** Never throws. */
function readSettings(path: string): ReadSettings {
  const broken = (text: string, words: string): ReadSettings => ({
    text,
    settings: {},
    problem: `${path}${words}`,
  })
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { text: null, settings: {}, problem: null }
    const words = ` cannot be read: ${messageOf(error)}.`
    return broken(words, words)
  }
  const content = text.replace(/^\uFEFF/, '')
  const flawAt = (line: number | null, column: number | null, words: string): ReadSettings =>
    broken(text, `${line === null ? '' : `, line ${line}, column ${column ?? 1}`}: ${words}`)
  const reading = readJson(content)
  if ('message' in reading) return flawAt(reading.line, reading.column, reading.message)
  try {
    return { text, settings: inFile(reading.value), problem: null }
  } catch (error) {
    if (!(error instanceof json.JsonValueError)) throw error
    const { path, flaw, at } = error
    const { line, column } = placeInJson(content, path, at)
    return flawAt(line, column, `${path.length === 0 ? 'The file' : json.pathText(path)} ${flaw}.`)
  }
}
