/** Endings of dated and moving names, without which a name means the same model. */
const endings: readonly RegExp[] = [/-preview-\d\d-\d\d$/i, /-\d{4}-\d\d-\d\d$/, /-\d{8}$/, /-latest$/i]

/** The names of a call's model, the answering model first. */
export function exactNames(responseModel: string | null, model: string | null): readonly string[] {
  return [...new Set([responseModel, model].filter((name) => name !== null && name !== ''))] as string[]
}

/**
 * The names under which a price list may have the model, best first: each as it is, without Gemini's
 * `models/`, then without its ending. A name is never matched by a part, or by a longer name.
 */
export function candidateNames(responseModel: string | null, model: string | null): readonly string[] {
  const names = exactNames(responseModel, model).flatMap((name) => {
    const bare = name.replace(/^models\//i, '')
    return [name, bare].concat(endings.map((ending) => bare.replace(ending, '')))
  })
  return [...new Set(names)].filter((name) => name !== '')
}
