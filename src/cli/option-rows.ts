import { defaultDatabase } from '../options/gateway-options.ts'
import type { OptionRow } from '../options/option-spec.ts'
import { path, toggle, type ValueKind } from '../options/value-kind.ts'

/** A switch. As the two below it belongs to one command alone: no variable sets it. */
export function flag(description: string): OptionRow<boolean> {
  return { kind: toggle, default: false, description, env: [] }
}

/** An option with a default. */
export function value<T>(kind: ValueKind<T & {}>, fallback: T, description: string): OptionRow<T> {
  return { kind, default: fallback, description, env: [] }
}

/** An option that is `null` unless given. */
export function optional<T extends {}>(kind: ValueKind<T>, description: string): OptionRow<T | null> {
  return { kind, default: null, description, env: [] }
}

/** `--db`, which a variable sets, too. */
export function database(description = 'file of the telemetry database'): OptionRow<string> {
  return { kind: path, default: defaultDatabase, description }
}
