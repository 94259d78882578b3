import { unprintable } from '../lib/unprintable.ts'

/** Most models with separate labels; all others share one. */
const mostModels = 100
/** Most labels from failed calls, so that names that no upstream knows cannot use up all labels. */
const mostByFailed = 50
/** Most characters of a name, which a scrape repeats some fifty times. */
const nameLength = 120

/** The values of the label `model`, bounded against clients that make up names. */
export class ModelLabels {
  /** Labels by the requested name. */
  readonly #labels = new Map<string, string>()

  /** The label of a model: `none` without a model, `other` once all labels are used. */
  labelOf(model: string | null, failed: boolean): string {
    // For Prometheus an empty label is no label.
    if (model === null || model === '') return 'none'
    const existing = this.#labels.get(model)
    if (existing !== undefined) return existing
    if (this.#labels.size >= (failed ? mostByFailed : mostModels)) return 'other'
    const label = labelText(model)
    this.#labels.set(model, label)
    return label
  }
}

/** A name as a label's value, without control characters, some of which make a scraper refuse the whole text. */
export function labelText(name: string): string {
  return name.slice(0, nameLength).toWellFormed().replace(unprintable, '\ufffd')
}
