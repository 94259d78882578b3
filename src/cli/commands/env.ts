import { dirname } from 'node:path'
import { ControlClient } from '../../control/control-client.ts'
import { row, optionTable } from '../../options/option-spec.ts'
import { defaultDatabase, defaultGatewayPort, gatewayOptionTable } from '../../options/gateway-options.ts'
import { baseUrl, integer, modelName } from '../../options/value-kind.ts'
import { typedCommand } from '../gateway-command.ts'
import { flag, optional } from '../option-rows.ts'
import { clientOrigin } from '../terminal/reachable-origin.ts'
import { type CommandRun, OptionError, quoted } from '../parse-options.ts'

export const example = 'eval "$(tokenweir env codex)"'
export const use = 'none'
export const table = optionTable({
  model: optional(modelName, 'model of the client (default: its own choice)'),
  offline: flag('also turn off its telemetry, update checks and model lists'),
  port: row(
    integer(1, 65_535),
    defaultGatewayPort,
    'TCP port of the gateway on this machine; without it, that of the gateway running in this folder',
    { env: gatewayOptionTable.port.env },
  ),
  url: optional(baseUrl, 'gateway address for the client, instead of --port'),
})

/** The settings that a client gets. */
interface ClientSettings {
  /** `http://localhost:9090` */
  readonly origin: string
  /** The same with `/v1`. */
  readonly base: string
  readonly model: string | null
  readonly offline: boolean
}

/** The configuration of a client: lines for a shell, or the content of its file. */
interface Recipe {
  /** The file that the text belongs in; null for lines that a shell evaluates. */
  readonly file: string | null
  readonly text: (settings: ClientSettings) => string
}

const anyKey = 'export OPENAI_API_KEY="${OPENAI_API_KEY:-none}"'

const recipes = {
  // Claude Code's base URL has no /v1. The key, or the login, is the client's own.
  claude: shell(({ origin, model, offline }) => [
    variable('ANTHROPIC_BASE_URL', origin),
    ...(model === null ? [] : [variable('ANTHROPIC_MODEL', model)]),
    ...(offline ? [variable('CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', '1')] : []),
  ]),
  codex: shell(({ base, model, offline }) => {
    const provider = `{name="tokenweir", base_url=${JSON.stringify(base)}, wire_api="responses"}`
    const settings = [
      'model_provider="tokenweir"',
      `model_providers.tokenweir=${provider}`,
      ...(model === null ? [] : [`model=${JSON.stringify(model)}`]),
      ...(offline
        ? ['analytics.enabled=false', 'check_for_update_on_startup=false', 'features.plugins=false']
        : []),
    ]
    const flags = settings.map((setting) => `-c ${shellQuoted(setting)}`).join(' ')
    // Without a key Codex sends none, and may get the gateway's. The setting is a single word, because zsh
    // does not split words.
    const key = '${OPENAI_API_KEY:+-cmodel_providers.tokenweir.env_key=OPENAI_API_KEY}'
    return [`codex() { command codex ${flags} ${key} "$@"; }`]
  }),
  opencode: shell(({ base, model, offline }) => [
    anyKey,
    variable('OPENCODE_CONFIG_CONTENT', JSON.stringify(opencodeConfig(base, model))),
    ...(offline
      ? [variable('OPENCODE_DISABLE_AUTOUPDATE', '1'), variable('OPENCODE_DISABLE_MODELS_FETCH', '1')]
      : []),
  ]),
  aider: shell(({ base, model, offline }) => [
    anyKey,
    variable('OPENAI_API_BASE', base),
    ...(model === null ? [] : [variable('AIDER_MODEL', `openai/${model}`)]),
    ...(offline ? [variable('AIDER_ANALYTICS', 'false'), variable('AIDER_CHECK_UPDATE', 'false')] : []),
  ]),
  openai: shell(({ base, model }) => [
    anyKey,
    variable('OPENAI_BASE_URL', base),
    ...(model === null ? [] : [variable('OPENAI_MODEL', model)]),
  ]),
  qwen: jsonFile('~/.qwen/settings.json', ({ base, model, offline }) => ({
    env: { OPENAI_BASE_URL: base },
    security: { auth: { selectedType: 'openai' } },
    ...(model === null ? {} : { model: { name: model } }),
    ...(offline ? { privacy: { usageStatisticsEnabled: false } } : {}),
  })),
  pi: jsonFile('~/.pi/agent/models.json', ({ origin, base, model }) => ({
    providers:
      model === null
        ? {
            openai: { baseUrl: base, headers: clientHeader('pi') },
            anthropic: { baseUrl: origin, headers: clientHeader('pi') },
          }
        : {
            tokenweir: {
              baseUrl: base,
              api: 'openai-completions',
              apiKey: 'OPENAI_API_KEY',
              headers: clientHeader('pi'),
              // Pi names its session only with this setting.
              compat: { sendSessionAffinityHeaders: true },
              models: [{ id: model }],
            },
          },
  })),
  continue: {
    file: '~/.continue/config.yaml',
    text: ({ base, model }) => {
      if (model === null) throw new OptionError('continue needs a model: give it with --model')
      // Text in JSON's quotes is text in YAML, too.
      return `name: tokenweir
version: 1.0.0
schema: v1
models:
  - name: ${JSON.stringify(model)}
    provider: openai
    model: ${JSON.stringify(model)}
    apiBase: ${JSON.stringify(base)}
    apiKey: \${{ secrets.OPENAI_API_KEY }}
    requestOptions:
      headers: ${JSON.stringify(clientHeader('continue'))}
    roles: [chat, edit, apply]
`
    },
  },
} as const satisfies Readonly<Record<string, Recipe>>

const clients = Object.keys(recipes) as (keyof typeof recipes)[]

export const positional = ['<client>', clients.join(', ')] as const

/** `tokenweir env <client>`: prints the settings that point a client at the gateway. Changes nothing. */
export const run: CommandRun<typeof table> = async (
  { url, port, model, offline, setBy },
  { argv, positionals: [clientName = ''], terminal: { print, warn, isWatched } },
) => {
  const client = clients.find((candidate) => candidate === clientName)
  if (client === undefined) {
    throw new OptionError(`the client must be one of ${clients.join(', ')}; got ${quoted(clientName)}`)
  }
  const running = setBy.port === null ? await new ControlClient(dirname(defaultDatabase)).running() : null
  const here = clientOrigin(running?.host ?? '127.0.0.1', running?.port ?? port)
  const origin = url === null ? here : url.replace(/\/+$/, '').replace(/\/v1$/, '')
  const { file, text }: Recipe = recipes[client]
  print(text({ origin, base: `${origin}/v1`, model, offline }))
  if (file !== null) warn(`# This belongs in ${file}\n`)
  else if (isWatched) warn(`# In this shell: eval "$(${[typedCommand(), 'env', ...argv].join(' ')})"\n`)
  return 0
}

/** The configuration of opencode. Without a model, its own OpenAI and Anthropic models go through the gateway. */
function opencodeConfig(base: string, model: string | null): object {
  if (model === null) {
    const options = { baseURL: base }
    return { provider: { openai: { options }, anthropic: { options } } }
  }
  const options = { baseURL: base, apiKey: '{env:OPENAI_API_KEY}' }
  const provider = { npm: '@ai-sdk/openai-compatible', name: 'tokenweir', options, models: { [model]: {} } }
  return { provider: { tokenweir: provider }, model: `tokenweir/${model}` }
}

/** The header that names a client which otherwise names only its library. */
function clientHeader(client: string): object {
  return { 'x-tokenweir-client': client }
}

function shell(lines: (settings: ClientSettings) => readonly string[]): Recipe {
  return { file: null, text: (settings) => `${lines(settings).join('\n')}\n` }
}

function jsonFile(file: string, content: (settings: ClientSettings) => object): Recipe {
  return { file, text: (settings) => `${JSON.stringify(content(settings), null, 2)}\n` }
}

function variable(name: string, value: string): string {
  return `export ${name}=${shellQuoted(value)}`
}

/** Any text as one word of a POSIX shell. */
function shellQuoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
