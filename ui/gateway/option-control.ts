import type { ConfigOption, SettingValue } from '../../src/api/proxy-config.ts'
import { count } from '../format/figures.ts'

/** With what an option is changed. */
export type OptionControl =
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'text' }

/**
 * The control for an option, by its range in words ("It must be …"). Words that mean nothing here get a field for
 * any text: what is wrong with it the dashboard says.
 */
export function controlOf({
  value,
  range,
  choices,
}: Pick<ConfigOption, 'value' | 'range' | 'choices'>): OptionControl {
  if (choices !== null) return { kind: 'choice', choices }
  if (typeof value === 'boolean') return { kind: 'choice', choices: ['on', 'off'] }
  const [, min, max] = /^a whole number from (\d+) to (\d+)$/.exec(range) ?? []
  if (min !== undefined && max !== undefined) return { kind: 'number', min: Number(min), max: Number(max) }
  return { kind: 'text' }
}

/** Its range as a sentence. */
export function rangeWords(option: Pick<ConfigOption, 'value' | 'range' | 'choices'>): string {
  const control = controlOf(option)
  if (control.kind === 'number') return `${count(control.min)} to ${boundWords(control.max)}.`
  return control.kind === 'text' ? `It must be ${option.range}.` : ''
}

/** A value as the text of its field. */
export function editable({ name, value }: Pick<ConfigOption, 'name' | 'value'>): string {
  // A port is a name that is made of digits.
  if (typeof value === 'number') return name === 'port' ? String(value) : count(value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'object' ? value.join(', ') : value
}

/**
 * A field's text as the dashboard wants it, for an option that has such a value. A text that is no number goes as it
 * is: the dashboard says what is wrong with it.
 */
export function settingOf(text: string, value: ConfigOption['value']): SettingValue {
  const trimmed = text.trim()
  if (typeof value === 'boolean') return trimmed === 'on'
  // Separators as the page shows them, and as people type them.
  const digits = trimmed.replaceAll(/[\s_,']/g, '')
  return typeof value === 'number' && /^-?\d{1,16}$/.test(digits) ? Number(digits) : trimmed
}

/** Numbers that mean "as many as can be counted" are not spelled out. */
function boundWords(max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? 'any number' : count(max)
}
