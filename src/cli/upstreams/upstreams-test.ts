import { dirname, resolve } from 'node:path'
import { keyHeaderOf, keyOf } from '../../gateway/routing/credentials.ts'
import { parseUpstreamBase } from '../../gateway/http/target.ts'
import { messageOf } from '../../lib/errors.ts'
import { type UpstreamSetting, patternMatcher } from '../../options/upstream-settings.ts'
import { optionTable } from '../../options/option-spec.ts'
import { exitCode } from '../exit-code.ts'
import { listModels } from '../list-models.ts'
import { type CommandRun, type Environment, OptionError } from '../parse-options.ts'
import { counted, duration } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import { placeOptions, upstreamsOf } from './upstreams-list.ts'

export const example = 'tokenweir upstreams test lab'
export const use = 'acts'
export const table = optionTable(placeOptions)
export const positional = ['[name]', 'one upstream; all without it', 'upstream'] as const

const limitMs = 15_000
const connectTimeoutMs = 5000
/** Most models that are named. */
const shownModels = 5

/**
 * `tokenweir upstreams test [name]`: asks each address of the upstreams for its models, with the gateway's
 * key for their calls. Prints the answers.
 */
export const run: CommandRun<typeof table> = async (options, { env, positionals: [name], terminal }) => {
  const upstreams = upstreamsOf(options, env)
  const { file, problem } = await upstreams.report()
  if (problem !== null) terminal.warn(`tokenweir: ${problem}\n`)
  const all = await upstreams.settings()
  const chosen = name === undefined ? all : all.filter((upstream) => upstream.name === name)
  if (name !== undefined && chosen.length === 0)
    throw new OptionError(`there is no upstream ${name} in ${file}`)
  if (all.length === 0)
    terminal.print(`There are no further upstreams in ${file}; tokenweir doctor checks the default one.\n`)
  const results = await Promise.all(
    chosen.flatMap((setting) =>
      setting.urls.map((url) => testUpstream(setting, url, dirname(resolve(file)), env)),
    ),
  )
  for (const { isGood, text } of results) terminal.print(printable(`${isGood ? '✓' : '✗'} ${text}`) + '\n')
  return results.every(({ isGood }) => isGood) ? 0 : exitCode.fault
}

interface Finding {
  readonly isGood: boolean
  readonly text: string
}

async function testUpstream(
  setting: UpstreamSetting,
  url: string,
  folder: string,
  env: Environment,
): Promise<Finding> {
  const { name, models = [], credentials = 'none' } = setting
  const bad = (why: string): Finding => ({ isGood: false, text: `${name}  ${url}  ${why}` })
  const isOurs = typeof credentials === 'object'
  const key = isOurs ? keyOf(credentials, { variable: (variable) => env[variable], folder }) : ''
  if (key instanceof Error) return bad(`gets no key: ${key.message}`)
  const keyHeader = isOurs ? keyHeaderOf(credentials, key, parseUpstreamBase(url).host) : []
  let response
  try {
    response = await listModels({ url, keyHeader, connectTimeoutMs, limitMs }, env)
  } catch (error) {
    return bad(messageOf(error))
  }
  const { status, failure, names } = response
  const took = duration(response.tookMs)
  if (failure !== null) return bad(failure.message)
  if (status === 401 || status === 403) {
    const text = `${name}  ${url}  answers in ${took}, and ${isOurs ? 'refuses the key' : 'asks for a key'} (${status})`
    return { isGood: credentials === 'client', text }
  }
  if (names === null) return bad(`answers ${status} in ${took}, and lists no models`)
  const matches = names.filter((model) => models.some((pattern) => patternMatcher(pattern)(model)))
  const shown = matches.slice(0, shownModels).join(', ') + (matches.length > shownModels ? ', …' : '')
  const words = [
    `answers in ${took}, ${counted(names.length, 'model')}`,
    models.length === 0 ? `by path, /${name}/` : `${matches.length} by its patterns`,
    ...(shown === '' ? [] : [shown]),
  ]
  // If no pattern matches any of its models, the upstream gets no call by a model.
  return { isGood: models.length === 0 || matches.length > 0, text: `${name}  ${url}  ${words.join(' · ')}` }
}
