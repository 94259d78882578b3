import { defaultDatabase } from '../options/gateway-options.ts'
import { type OptionRow, row } from '../options/option-spec.ts'
import { path, toggle, type ValueKind } from '../options/value-kind.ts'

/** A switch, which no variable sets. */
export function flag(description: string): OptionRow<boolean> {
  return value(toggle, false, description)
}

/** An option with a default, which no variable sets. */
export function value<T>(kind: ValueKind<T & {}>, fallback: T, description: string): OptionRow<T> {
  return row(kind, fallback, description, { env: [] })
}

/** An option with the default `null`, which no variable sets. */
export function optional<T extends {}>(kind: ValueKind<T>, description: string): OptionRow<T | null> {
  return value<T | null>(kind, null, description)
}

/** The option `--db`, which a variable also sets. */
export function database(description = 'file of the telemetry database'): OptionRow<string> {
  return row(path, defaultDatabase, description)
}
