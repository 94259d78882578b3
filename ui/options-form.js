/** @import { ConfigOption, ProxyConfig, SettingValue } from '../src/api/proxy-config.ts' */
/** @import { DashboardApi } from './dashboard-api.js' */
import { Trouble } from './dashboard-api.js'
import { OptionField, shownValue, sourceWords } from './option-field.js'
import { element, part, reasonOf, say, setUsable, whenPressed } from './page-part.js'

/** The gateway's options: those that can be changed here in a form, the others to read. */
export class OptionsForm {
  #api
  #onSaved
  /** @type {Map<string, OptionField>} */
  #fields = new Map()
  #busy = false
  #told = part('options-told', HTMLElement)

  /**
   * @param {DashboardApi} api
   * @param {(config: ProxyConfig) => void} onSaved
   */
  constructor(api, onSaved) {
    this.#api = api
    this.#onSaved = onSaved
    const form = part('options-form', HTMLFormElement)
    form.addEventListener('input', () => this.#showButtons())
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!this.#busy && this.#changed().length > 0) void this.#save()
    })
    whenPressed(part('discard', HTMLButtonElement), () => {
      for (const field of this.#changed()) field.discard()
      say(this.#told, null)
      this.#showButtons()
    })
  }

  /**
   * Fields that the reader is changing keep what was typed.
   *
   * @param {ProxyConfig} config
   */
  show({ options, needs_restart: needsRestart }) {
    const fixed = []
    for (const option of options) {
      if (option.changes === null) {
        fixed.push(factOf(option))
        continue
      }
      const field = this.#fields.get(option.name) ?? this.#addField(option)
      field.show(option, needsRestart.includes(option.name))
    }
    part('fixed', HTMLElement).replaceChildren(...fixed)
    this.#showButtons()
  }

  /** @param {ConfigOption} option */
  #addField(option) {
    const field = new OptionField(option)
    this.#fields.set(option.name, field)
    part('changeable', HTMLElement).append(field.element)
    return field
  }

  async #save() {
    const changed = this.#changed()
    /** @type {Record<string, SettingValue>} */
    const settings = {}
    for (const field of changed) settings[field.name] = field.value
    this.#busy = true
    this.#showButtons()
    say(this.#told, null)
    for (const field of this.#fields.values()) field.showTrouble(null)
    try {
      const config = await this.#api.configure(settings)
      for (const field of changed) field.discard()
      this.#onSaved(config)
      say(this.#told, savedWords(config, Object.keys(settings)))
    } catch (error) {
      this.#showTrouble(error)
    } finally {
      this.#busy = false
      this.#showButtons()
    }
  }

  /** @param {unknown} error */
  #showTrouble(error) {
    const message = reasonOf(error)
    const field = error instanceof Trouble ? this.#fields.get(error.param ?? '') : undefined
    if (field === undefined) say(this.#told, message)
    else field.showTrouble(message)
  }

  #changed() {
    return [...this.#fields.values()].filter((field) => field.isChanged)
  }

  #showButtons() {
    const usable = !this.#busy && this.#changed().length > 0
    setUsable(part('save', HTMLButtonElement), usable)
    setUsable(part('discard', HTMLButtonElement), usable)
  }
}

/** @param {ConfigOption} option */
function factOf(option) {
  const fact = element('div')
  const value = element('dd', shownValue(option.value))
  value.append(element('span', sourceWords(option), 'quiet'))
  fact.append(element('dt', option.name), value)
  return fact
}

/**
 * @param {ProxyConfig} config
 * @param {readonly string[]} names
 */
function savedWords({ options, needs_restart: needsRestart }, names) {
  const waiting = names.filter((name) => needsRestart.includes(name))
  if (waiting.length > 0) return `Saved. Restart to apply ${waiting.join(', ')}.`
  const runs = options.some(({ running }) => running !== null)
  return runs ? 'Saved, and in force.' : 'Saved for the next start.'
}
