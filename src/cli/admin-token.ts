import { reasonOf } from '../lib/errors.ts'
import { readText } from '../lib/files/read-file.ts'
import { type Environment, OptionError } from './parse-options.ts'

/** Fewest characters of a token, so that it cannot be guessed. */
const shortest = 16

/**
 * The admin token, from its file or else from `TOKENWEIR_ADMIN_TOKEN`; `null` if there is none. The token is
 * never an option, because every user of a machine can read the arguments of its processes. Throws {@link
 * OptionError}.
 */
export function readAdminToken(file: string | null, env: Environment): string | null {
  const name = file === null ? 'TOKENWEIR_ADMIN_TOKEN' : `--admin-token-file ${file}`
  const text = file === null ? (env['TOKENWEIR_ADMIN_TOKEN'] ?? '') : readToken(file)
  if (text === '' && file === null) return null
  if (!/^[\x21-\x7e]*$/.test(text) || text.length < shortest) {
    throw new OptionError(
      `${name} must hold at least ${shortest} letters, digits or signs, and no spaces; got ${text.length} characters`,
    )
  }
  return text
}

function readToken(file: string): string {
  try {
    return readText(file).trim()
  } catch (error) {
    throw new OptionError(`could not read --admin-token-file ${file}: ${reasonOf(error)}`)
  }
}
