/** Models that have a label of their own; all others share one. */
const mostModels = 100
/** Failed calls may add at most this many: names that no upstream knows must not use up the labels. */
const mostByFailed = 50
/** Longer names are cut: each is written some fifty times a scrape. */
const nameLength = 120
/** Some of these characters make a scraper refuse the whole text, and a reader cannot see the others. */
// oxlint-disable-next-line no-control-regex -- just these
const unreadable = /[\u0000-\u001f\u007f-\u009f]/g

/** The values of the label `model`, bounded against clients that make up names. */
export class ModelLabels {
  /** Labels by the requested name. */
  readonly #labels = new Map<string, string>()

  /** `none` for a call that named no model, `other` for the models that came too late. */
  labelOf(model: string | null, failed: boolean): string {
    // To Prometheus an empty label is none.
    if (model === null || model === '') return 'none'
    const known = this.#labels.get(model)
    if (known !== undefined) return known
    if (this.#labels.size >= (failed ? mostByFailed : mostModels)) return 'other'
    const label = labelText(model)
    this.#labels.set(model, label)
    return label
  }
}

/** A name as a label's value. */
export function labelText(name: string): string {
  return name.slice(0, nameLength).toWellFormed().replace(unreadable, '\ufffd')
}
