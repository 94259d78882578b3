/** Models that have a label of their own; all others share one. */
const mostModels = 100
/** So many of them failed calls may take: names that no upstream knows must not use up the places. */
const mostByFailed = 50
/** Longer names are cut: each is written some fifty times a scrape. */
const nameLength = 120
/** A scraper refuses the whole text for some of them, and a reader cannot tell them apart. */
// oxlint-disable-next-line no-control-regex -- just these
const unreadable = /[\u0000-\u001f\u007f-\u009f]/g

/** The values of the label `model`: bounded, whatever clients ask for. */
export class ModelLabels {
  /** By the name that was asked for. */
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
