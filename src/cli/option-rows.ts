import { defaultDatabase } from '../options/gateway-options.ts'
import { type OptionRow, row } from '../options/option-spec.ts'
import { path, toggle, type ValueKind } from '../options/value-kind.ts'

/** A switch. As the two below it belongs to one command alone: no variable sets it. */
export function flag(description: string): OptionRow<boolean> {
  return value(toggle, false, description)
}

/** An option with a default. */
export function value<T>(kind: ValueKind<T & {}>, fallback: T, description: string): OptionRow<T> {
  return row(kind, fallback, description, { env: [] })
}

/** An option that is `null` unless given. */
export function optional<T extends {}>(kind: ValueKind<T>, description: string): OptionRow<T | null> {
  return value<T | null>(kind, null, description)
}

/** `--db`, which a variable sets, too. */
export function database(description = 'file of the telemetry database'): OptionRow<string> {
  return row(path, defaultDatabase, description)
}
