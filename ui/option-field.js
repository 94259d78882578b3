/** @import { ConfigOption, SettingValue } from '../src/api/proxy-config.ts' */
import { element, say } from './page-part.js'

/** One option that can be changed on the page. */
export class OptionField {
  /** The field, to be put into the form. */
  element = element('div', '', 'option')
  name
  #option
  #input
  #source = element('span', '', 'quiet')
  #running = element('p', '', 'running')
  #trouble = element('p', '', 'field-trouble')

  /** @param {ConfigOption} option */
  constructor(option) {
    this.name = option.name
    this.#option = option
    const id = `option-${option.name}`
    const label = element('label', option.name)
    label.htmlFor = id
    const about = element('p', `${sentence(option.description)} It must be ${option.range}.`, 'about')
    about.id = `${id}-about`
    this.#input = inputFor(option)
    this.#input.id = id
    this.#trouble.id = `${id}-trouble`
    this.#trouble.role = 'alert'
    this.#input.setAttribute('aria-describedby', `${about.id} ${this.#trouble.id}`)
    const head = element('div', '', 'head')
    head.append(label, this.#source)
    this.element.append(head, this.#input, this.#trouble, this.#running, about)
    this.#input.value = editable(option.value)
    this.showTrouble(null)
  }

  get isChanged() {
    return this.#option.fixed_by === null && this.#input.value.trim() !== editable(this.#option.value)
  }

  /**
   * As the dashboard wants it. A text that is no number goes as it is: the dashboard says what is wrong with it.
   *
   * @returns {SettingValue}
   */
  get value() {
    const text = this.#input.value.trim()
    if (typeof this.#option.value === 'boolean') return text === 'on'
    return typeof this.#option.value === 'number' && /^-?\d+$/.test(text) ? Number(text) : text
  }

  /**
   * @param {ConfigOption} option
   * @param {boolean} needsRestart
   */
  show(option, needsRestart) {
    const keepsText = this.isChanged
    this.#option = option
    if (!keepsText) this.#input.value = editable(option.value)
    this.#input.disabled = option.fixed_by !== null
    this.#source.textContent = sourceWords(option)
    say(
      this.#running,
      needsRestart && option.running !== null
        ? `The running gateway has ${shownValue(option.running)}: restart to apply.`
        : null,
    )
  }

  discard() {
    this.#input.value = editable(this.#option.value)
    this.showTrouble(null)
  }

  /** @param {string | null} message */
  showTrouble(message) {
    say(this.#trouble, message)
    this.#input.ariaInvalid = message === null ? null : 'true'
    if (message !== null) this.#input.focus()
  }
}

/** @param {ConfigOption['value']} value */
export function shownValue(value) {
  const text = editable(value)
  return text === '' ? 'none' : text
}

/**
 * Where the value comes from, and how a change of it takes effect.
 *
 * @param {ConfigOption} option
 */
export function sourceWords({ source, fixed_by: fixedBy, changes }) {
  if (fixedBy !== null) return `set by ${fixedBy}`
  const from = source === 'saved' ? 'saved here' : source
  if (changes === null) return from
  return `${from} · changes ${changes === 'live' ? 'at once' : 'with a restart'}`
}

/** @param {ConfigOption['value']} value */
function editable(value) {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'object' ? value.join(', ') : String(value)
}

/** @param {ConfigOption} option */
function inputFor({ value }) {
  if (typeof value === 'boolean') {
    const select = element('select')
    select.append(element('option', 'on'), element('option', 'off'))
    return select
  }
  const input = element('input')
  input.type = 'text'
  input.autocomplete = 'off'
  input.spellcheck = false
  if (typeof value === 'number') input.inputMode = 'numeric'
  return input
}

/** @param {string} description */
function sentence(description) {
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`
}
