import { type ReplyStep, cut, reset, stall, write } from '../support/reply-step.ts'
import { type HeaderLines, chunkFrame, responseHead, sseEvent } from '../support/response-bytes.ts'

/** How an upstream dies. */
export type DeathManner = 'reset' | 'fin' | 'garbage' | 'stall'
/** How far the answer came: only its head, whole events, or the middle of one. */
export type DeathMoment = 'head' | 'between' | 'inside'
export type DeathFraming = 'chunked' | 'content-length' | 'until-close'

/** One way in which an upstream leaves its answer unfinished. */
export interface UpstreamDeath {
  readonly manner: DeathManner
  readonly moment: DeathMoment
  readonly framing: DeathFraming
  /** Whether the answer says `Connection: close`, after which parsers may take a break for the end. */
  readonly saysClose: boolean
  readonly streamed: boolean
}

const eventCount = 6
const eventsBeforeDeath = 4

const events = Array.from({ length: eventCount }, (_, i) =>
  sseEvent({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'sim',
    choices: [{ index: 0, delta: { content: `w${i} ` }, finish_reason: null }],
  }),
)
const document = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'sim',
  choices: [{ index: 0, message: { role: 'assistant', content: 'w'.repeat(500) }, finish_reason: 'stop' }],
})
const pieces = Array.from({ length: eventCount }, (_, i) =>
  document.slice((i * document.length) / eventCount, ((i + 1) * document.length) / eventCount),
)

/**
 * Every death that a client can be told of. An orderly FIN after an answer that only the connection's close
 * delimits is not among them: that is how such an answer ends (RFC 9112 §6.3).
 */
export const upstreamDeaths: readonly UpstreamDeath[] = Array.from(allDeaths())

function* allDeaths(): Generator<UpstreamDeath> {
  for (const streamed of [true, false]) {
    for (const moment of ['head', 'between', 'inside'] as const) {
      const common = { streamed, moment }
      for (const saysClose of [true, false]) {
        for (const manner of ['reset', 'fin', 'garbage', 'stall'] as const) {
          yield { ...common, framing: 'chunked', manner, saysClose }
        }
        for (const manner of ['reset', 'fin', 'stall'] as const) {
          yield { ...common, framing: 'content-length', manner, saysClose }
        }
      }
      for (const manner of ['reset', 'stall'] as const) {
        yield { ...common, framing: 'until-close', manner, saysClose: true }
      }
    }
  }
}

export function nameOf(death: UpstreamDeath): string {
  const close = death.saysClose ? ', close' : ''
  const kind = death.streamed ? 'stream' : 'JSON'
  return `${kind} ${death.framing}${close}: ${death.manner} at ${death.moment}`
}

/** The bytes of the body that the upstream sends before it dies. */
export function bodyBefore(death: UpstreamDeath): string {
  return sentPieces(death).join('')
}

/** Whole content events that the upstream sends before it dies; `null` where the answer is no stream. */
export function contentEventsBefore(death: UpstreamDeath): number | null {
  if (!death.streamed) return null
  return death.moment === 'head' ? 0 : eventsBeforeDeath
}

/** What the upstream does: the head, some of the body, each piece in its own write, and the death. */
export function replyOf(death: UpstreamDeath): ReplyStep[] {
  const { framing, streamed } = death
  const whole = (streamed ? events : pieces).join('')
  const framingHeader: HeaderLines = {
    chunked: [['Transfer-Encoding', 'chunked'] as const],
    'content-length': [['Content-Length', String(whole.length)] as const],
    'until-close': [],
  }[framing]
  const head = responseHead(200, [
    ['Content-Type', streamed ? 'text/event-stream' : 'application/json'],
    ...framingHeader,
    ...(death.saysClose ? [['Connection', 'close'] as const] : []),
  ])
  const body = sentPieces(death).map((piece) => write(framing === 'chunked' ? chunkFrame(piece) : piece))
  return [write(head), ...body, ...endings[death.manner]]
}

function sentPieces({ moment, streamed }: UpstreamDeath): string[] {
  if (moment === 'head') return []
  const all = streamed ? events : pieces
  const whole = all.slice(0, eventsBeforeDeath)
  return moment === 'between' ? whole : [...whole, all[eventsBeforeDeath]!.slice(0, 20)]
}

const endings: Readonly<Record<DeathManner, readonly ReplyStep[]>> = {
  reset: [reset()],
  fin: [cut()],
  garbage: [write('no chunk size\r\n'), stall()],
  stall: [stall()],
}
