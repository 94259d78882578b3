import { optionTable } from '../../options/option-spec.ts'
import { database } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { entryName, isFingerprint } from '../../call/key-fingerprint.ts'
import { change } from './clients-set.ts'

export const example = 'tokenweir clients name 1f3a9c02 "night job"'
export const use = 'acts'
export const table = optionTable({
  db: database('file of the telemetry database; the names of keys are next to it'),
})

export const positional = ['<fingerprint> <name>', 'client name for its calls; none removes it'] as const

/** `tokenweir clients name <fingerprint> <name>`: names a key's calls. */
export const run: CommandRun<typeof table> = async ({ db }, { positionals, terminal }) => {
  const [of = '', name = ''] = positionals
  const fingerprint = entryName(of)
  if (!isFingerprint(fingerprint)) {
    throw new OptionError(
      `the fingerprint must be 8 hexadecimal digits, as shown by \`tokenweir clients\`; got ${JSON.stringify(fingerprint.slice(0, 100))}`,
    )
  }
  return change(db, terminal, fingerprint, { name: name === 'none' ? null : name })
}
