import { maxHeaderBytes } from '../../gateway/http/listen.ts'
import { parseTarget, parseUpstreamBase, type UpstreamBase, upstreamPath } from '../../gateway/http/target.ts'
import { failureOf } from '../../gateway/upstream/undici-failure.ts'
import { messageOf } from '../../lib/errors.ts'
import { isObject, readMessage } from '../../lib/message-shape.ts'
import { ask } from '../../verify/ask.ts'
import { compareExchanges } from '../../verify/compare-exchanges.ts'
import { compareWithDirect } from '../../verify/compare-with-direct.ts'
import { startOwnGateway } from '../../verify/own-gateway.ts'
import { startRecordingRelay } from '../../verify/recording-relay.ts'
import type { SeenAnswer, SeenRequest } from '../../verify/seen-exchange.ts'
import { CommandError, exitCode } from '../exit-code.ts'
import { gatewayCommand } from '../gateway-command.ts'
import { version } from '../package-version.ts'
import type { CommandRun, Environment } from '../parse-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { gatewayOptionTable } from '../../options/gateway-options.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { modelName, onOff } from '../../options/value-kind.ts'
import { flag, optional, value } from '../option-rows.ts'

export const table = optionTable({
  upstream: gatewayOptionTable.upstream,
  model: optional(modelName, 'model to ask; the first that the upstream lists unless given'),
  stream: value(onOff, true, 'whether the answer is asked for as a stream'),
  usageInjection: gatewayOptionTable.usageInjection,
  direct: flag(
    'make three more calls each way, past the gateway and through it: status, header names, time to first token',
  ),
})

type VerifyOptions = OptionsOf<typeof table>

const target = '/v1/chat/completions'

/**
 * `tokenweir verify`: one call through a gateway whose upstream is a relay of our own, which notes what the
 * upstream really got and sent.
 */
export const run: CommandRun<typeof table> = async (options, { env, terminal }) => {
  return verify(options, env, terminal.print).catch((error: unknown) => {
    throw new CommandError(wordsOf(error, options.upstream))
  })
}

async function verify(options: VerifyOptions, env: Environment, print: Terminal['print']): Promise<number> {
  const base = parseUpstreamBase(options.upstream)
  const key = env['UPSTREAM_API_KEY'] ?? ''
  const model = options.model ?? (await firstModel(base, key))
  const request = chatRequest(model, options.stream, key)
  const { client, upstream, attempts, beside } = await throughGateway(base, request, options, env)
  const { status } = upstream.answer
  print(`One call to ${options.upstream}, model ${model}: what was sent against what came.\n`)
  const expectedTarget = upstreamPath(base, parseTarget(target))
  const findings = [...compareExchanges(client, upstream, expectedTarget)]
  const notes: string[] = []
  if (attempts > 1) notes.push('the upstream refused to be asked for usage, and was asked again without')
  if (status >= 400)
    notes.push(`the upstream answered ${status}${key === '' ? '; UPSTREAM_API_KEY holds its key' : ''}`)
  if (beside !== null) {
    const compared = compareWithDirect(beside, client.answer)
    findings.push(...compared.findings)
    notes.push(compared.note)
  }
  for (const { what, isSame, detail } of findings) print(`${isSame ? '✓' : '✗'} ${what}: ${detail}\n`)
  for (const note of notes) print(`· ${note}\n`)
  const isSame = findings.every((finding) => finding.isSame)
  const wrong = 'Something differs that must not: the lines with ✗ say what.\n'
  print(isSame ? 'Nothing differs but what is named.\n' : wrong)
  return isSame ? 0 : exitCode.fault
}

/** So many each way: the first call is slower than all that follow, and one alone says little. */
const callsBeside = 3

/**
 * Makes the call: what the client and the upstream got and sent, the upstream of the last attempt; and further calls,
 * each way in turn, null if none were asked for.
 */
async function throughGateway(
  base: UpstreamBase,
  request: SeenRequest,
  options: VerifyOptions,
  env: Environment,
) {
  await using relay = await startRecordingRelay(base.origin)
  const args = [`--upstream=${relay.origin}${base.pathPrefix}`, `--usage-injection=${options.usageInjection}`]
  // The key is in the request; lent as well, it would hide one that got lost on the way.
  await using gateway = await startOwnGateway(gatewayCommand, args, { ...env, UPSTREAM_API_KEY: '' })
  const answer = await ask(gateway.origin, request)
  const exchanges = await relay.settled()
  const attempts = exchanges.length
  const last = exchanges.at(-1)
  if (last === undefined) throw new Error(`the gateway did not forward the call: ${answer.body.toString()}`)
  if (last.answer === null) throw last.error ?? new Error('the upstream gave no answer')
  const beside: { direct: SeenAnswer[]; through: SeenAnswer[] } = { direct: [], through: [] }
  const directRequest = { ...request, target: upstreamPath(base, parseTarget(target)) }
  while (options.direct && beside.direct.length < (answer.status < 400 ? callsBeside : 1)) {
    beside.direct.push(await ask(base.origin, directRequest))
    beside.through.push(await ask(gateway.origin, request))
  }
  return {
    client: { request, answer },
    upstream: { request: last.request, answer: last.answer },
    attempts,
    beside: options.direct ? beside : null,
  }
}

function chatRequest(model: string, stream: boolean, key: string): SeenRequest {
  const messages = [{ role: 'user', content: 'Say hello in one short sentence.' }]
  const body = Buffer.from(JSON.stringify({ model, messages, stream }))
  return { method: 'POST', target, headers: ['Content-Type', 'application/json', ...headersOf(key)], body }
}

function headersOf(key: string): readonly string[] {
  const plain = ['Accept', '*/*', 'Accept-Encoding', 'identity', 'User-Agent', `tokenweir-verify/${version}`]
  return key === '' ? plain : ['Authorization', `Bearer ${key}`, ...plain]
}

async function firstModel(base: UpstreamBase, key: string): Promise<string> {
  const models = upstreamPath(base, parseTarget('/v1/models'))
  const request = { method: 'GET', target: models, headers: headersOf(key), body: Buffer.alloc(0) }
  const { status, body } = await ask(base.origin, request)
  const list = readMessage(body.toString(), isObject)?.['data']
  const [first] = Array.isArray(list) ? (list as readonly unknown[]) : []
  if (isObject(first) && typeof first['id'] === 'string') return first['id']
  throw new Error(`the upstream answers ${status} and lists no models; --model names one`)
}

/** What the system says of a connection says nothing to a person without the address. */
function wordsOf(error: unknown, upstream: string): string {
  if (!(error instanceof Error) || !('code' in error)) return messageOf(error)
  const progress = { started: false, answered: false, reusedSocket: false, maxHeaderBytes }
  return `${upstream}: ${failureOf(error, progress).message} --upstream names another`
}
