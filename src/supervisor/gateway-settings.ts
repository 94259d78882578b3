import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { SettingValue } from '../api/proxy-config.ts'
import { replaceFile } from '../lib/replace-file.ts'

/** Options by their setting names (`max_concurrent`), as a request brings them and `gateway.json` keeps them. */
export type Settings = Readonly<Record<string, SettingValue>>

/** `gateway.json`, or what was asked for, is not what it should be. */
export class SettingError extends Error {
  readonly code:
    | 'invalid_setting'
    | 'unknown_setting'
    | 'fixed_setting'
    | 'broken_settings_file'
    | 'settings_not_kept'
  /** The setting that is wrong. */
  readonly param: string | null

  constructor(code: SettingError['code'], param: string | null, message: string) {
    super(message)
    this.name = 'SettingError'
    this.code = code
    this.param = param
  }
}

/** The file that keeps what was set on the dashboard. It is read anew each time, so that a person may edit it. */
export class SettingsFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** What is in it, unchecked; nothing where there is no file. Throws {@link SettingError}. */
  read(): Readonly<Record<string, unknown>> {
    let text: string
    try {
      text = readFileSync(this.path, 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
      throw this.#broken(error)
    }
    let content: unknown
    try {
      content = JSON.parse(text)
    } catch (error) {
      throw this.#broken(error)
    }
    if (typeof content !== 'object' || content === null || Array.isArray(content)) {
      throw this.#broken('it must hold one JSON object')
    }
    return { ...content }
  }

  /** Throws {@link SettingError}. */
  write(settings: Settings): void {
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      replaceFile(this.path, `${JSON.stringify(settings, null, 2)}\n`)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new SettingError('settings_not_kept', null, `${this.path} cannot be written: ${why}`)
    }
  }

  #broken(cause: unknown): SettingError {
    const why = cause instanceof Error ? cause.message : String(cause)
    return new SettingError('broken_settings_file', null, `${this.path} cannot be read: ${why}`)
  }
}
