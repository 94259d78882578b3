/** The endings of dated and moving names; the entry without them is the same model. */
const endings: readonly RegExp[] = [/-preview-\d\d-\d\d$/i, /-\d{4}-\d\d-\d\d$/, /-\d{8}$/, /-latest$/i]

/** The names of a call's model, the one that answered first. */
export function exactNames(responseModel: string | null, model: string | null): readonly string[] {
  return [...new Set([responseModel, model].filter((name) => name !== null && name !== ''))] as string[]
}

/**
 * The names under which a list of prices may have the model, best first: each as it is, without Gemini's `models/`,
 * then without its ending. Never a part of a name, and never a longer one.
 */
export function candidateNames(responseModel: string | null, model: string | null): readonly string[] {
  const names = exactNames(responseModel, model).flatMap((name) => {
    const bare = name.replace(/^models\//i, '')
    return [name, bare].concat(endings.map((ending) => bare.replace(ending, '')))
  })
  return [...new Set(names)].filter((name) => name !== '')
}
