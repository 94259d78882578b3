import type { UpstreamChange, UpstreamCredentials } from '../../options/upstream-settings.ts'
import { givenSettings, type OptionsOf, optionTable } from '../../options/option-spec.ts'
import {
  upstreamUrl,
  integerOrNone,
  names,
  oneOf,
  path,
  textKind,
  type ValueKind,
} from '../../options/value-kind.ts'
import type { Upstreams } from '../../supervisor/upstreams.ts'
import { optional, value } from '../option-rows.ts'
import { type CommandContext, type CommandRun, OptionError } from '../parse-options.ts'
import { counted } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { credentialsText, placeOptions, upstreamsOf } from './upstreams-list.ts'

const urls: ValueKind<readonly string[]> = {
  placeholder: '<url>',
  range: upstreamUrl.range,
  parse: (text, earlier = []) => (upstreamUrl.parse(text) === undefined ? undefined : [...earlier, text]),
}
const noValues: readonly string[] = []

type ModelLimits = NonNullable<UpstreamChange['limits']>
/** The limits of all mentions; `none` removes all limits. */
const modelLimits: ValueKind<ModelLimits | 'none'> = {
  placeholder: '<pattern=rpm/tpm>',
  range: 'a model pattern with requests and tokens per minute, such as gpt-4.1*=500/200000, or none',
  parse: (text, earlier) => {
    if (text === 'none') return 'none'
    const [, pattern = '', rpm = '', tpm = ''] =
      /^([^\p{Cc}]{1,200})=([1-9]\d{0,14})?(?:\/([1-9]\d{0,14}))?$/u.exec(text) ?? []
    if (rpm + tpm === '') return undefined
    const before = typeof earlier === 'object' ? earlier : {}
    const limit = { ...(rpm !== '' && { rpm: Number(rpm) }), ...(tpm !== '' && { tpm: Number(tpm) }) }
    return { ...before, [pattern]: limit }
  },
}

export const example = 'tokenweir upstreams set lab --max-concurrent 8'
export const use = 'acts'
/** The options of an upstream. */
export const table = optionTable({
  url: value(urls, noValues, 'base URL; repeatable, for servers with the same models'),
  model: value(
    names('a model name, with * for any characters, or none'),
    noValues,
    'models to send there; repeatable; none: only by path',
  ),
  maxConcurrent: optional(
    integerOrNone(1, 100_000),
    'maximum concurrent calls; none: same as the default upstream',
  ),
  tokenLimit: optional(integerOrNone(1, Number.MAX_SAFE_INTEGER), 'tokens in any 24 hours; none: no limit'),
  maxRpm: optional(integerOrNone(1, Number.MAX_SAFE_INTEGER), 'requests per minute; none: no limit'),
  maxTpm: optional(integerOrNone(1, Number.MAX_SAFE_INTEGER), 'tokens per minute; none: no limit'),
  modelLimit: optional(
    modelLimits,
    'requests and tokens per minute for a model pattern, such as gpt-4.1*=500/200000, or just 500 or /200000; repeatable; none: no such limits',
  ),
  credentials: optional(oneOf(['client', 'none']), "credentials to send: the client's, or none"),
  keyEnv: optional(
    textKind('<name>', 'the name of a variable', (text) => /^[A-Za-z_]\w*$/.test(text)),
    'environment variable of the gateway with the key',
  ),
  keyFile: optional(path, 'file with the key'),
  keyHeader: optional(
    textKind('<name>', 'the name of a header', (text) => /^[\w-]+$/.test(text)),
    'header for the key',
  ),
  fallback: optional(
    textKind('<name>', 'a name', (text) => text !== ''),
    'upstream for calls that this one cannot take; none: no fallback',
  ),
  ...placeOptions,
})

export const positional = ['<name>', 'its name, which is also its path', 'upstream'] as const

/** `tokenweir upstreams set <name>`: changes the given settings of an upstream. */
export const run: CommandRun<typeof table> = (options, context) => set(options, context, true)

/** Changes an upstream that exists, or adds a new one. Rejects with {@link OptionError}. */
export async function set(
  options: OptionsOf<typeof table>,
  { env, positionals: [name = ''], terminal }: CommandContext,
  isThere: boolean,
): Promise<number> {
  const change = changeOf(options)
  if (!isThere && change.urls === undefined) throw new OptionError('no URL given: use --url http://…')
  if (Object.keys(change).length === 0) throw new OptionError('nothing to change: use --url, --model, …')
  const upstreams = upstreamsOf(options, env)
  const exists = (await upstreams.settings()).some((upstream) => upstream.name === name)
  if (isThere && !exists)
    throw new OptionError(`no upstream ${name}: add it with tokenweir upstreams add ${name} --url <url>`)
  if (!isThere && exists)
    throw new OptionError(`upstream ${name} exists: change it with tokenweir upstreams set ${name} …`)
  await upstreams.change(name, change, true)
  await printResult(upstreams, name, terminal)
  return 0
}

function changeOf(options: OptionsOf<typeof table>): UpstreamChange {
  const { url, model, modelLimit } = options
  const credentials = credentialsOf(options)
  return {
    ...(url.length === 0 ? {} : { urls: url }),
    ...(model.length === 0 ? {} : { models: model.includes('none') ? null : model }),
    ...givenSettings(table, options, ['maxConcurrent', 'tokenLimit', 'maxRpm', 'maxTpm']),
    ...(modelLimit === null ? {} : { limits: modelLimit === 'none' ? null : modelLimit }),
    ...(credentials === null ? {} : { credentials }),
    ...givenSettings(table, options, ['fallback']),
  }
}

function credentialsOf({
  credentials,
  keyEnv,
  keyFile,
  keyHeader,
}: OptionsOf<typeof table>): UpstreamCredentials | null {
  const sources = [credentials, keyEnv, keyFile].filter((source) => source !== null)
  if (sources.length > 1) throw new OptionError('use only one of --credentials, --key-env, --key-file')
  const header = keyHeader === null ? {} : { header: keyHeader }
  if (keyEnv !== null) return { env: keyEnv, ...header }
  if (keyFile !== null) return { file: keyFile, ...header }
  if (keyHeader !== null) throw new OptionError('--key-header needs --key-env or --key-file')
  return credentials
}

/** Prints the new settings of an upstream, and the missing ones. */
async function printResult(upstreams: Upstreams, name: string, { print, warn }: Terminal): Promise<void> {
  const { upstreams: rows } = await upstreams.report()
  const row = rows.find((candidate) => candidate.name === name)
  if (row === undefined) return
  const { urls, models, max_concurrent: most, health } = row
  const goes =
    models.length === 0 ? `calls under /${name}/` : `calls of ${models.join(', ')}, and under /${name}/`
  const limit = most === null ? '' : `, ${counted(most, 'slot')}`
  print(
    printable(`${name}: ${goes} go to ${urls.join(', ')}${limit}; credentials: ${credentialsText(row)}`) +
      '\n',
  )
  if (health === null)
    print('No gateway is running to report its state; check it with tokenweir upstreams test.\n')
  const problem = health?.problem ?? null
  if (problem !== null) warn(printable(`tokenweir: ${name} ${problem}`) + '\n')
}
