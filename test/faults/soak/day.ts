/** What a busy day asks of a gateway: how many calls at which hour, and which. */

/** How a call goes. Whoever `leaves` does so in the upload, before an answer has begun, or while reading it. */
export const callKinds = [
  'stream',
  'long stream',
  'json',
  'embedding',
  'large prompt',
  'agent turn',
  'leaves in upload',
  'leaves waiting',
  'leaves reading',
  'answered 429',
  'answered 500',
  'cut',
  'hung',
] as const

export type CallKind = (typeof callKinds)[number]

/** A call as client and upstream agree on it beforehand. */
export interface PlannedCall {
  readonly n: number
  readonly kind: CallKind
  readonly stream: boolean
  /** Whether the client asks for usage on a stream. */
  readonly asksUsage: boolean
  readonly input: number
  readonly output: number
  /** Before the answer begins. */
  readonly firstMs: number
  /** Between two chunks of a stream. */
  readonly gapMs: number
  readonly promptBytes: number
  readonly session: string | null
  /** When the client leaves, if it does. */
  readonly leaveMs: number
}

export const hoursOfDay = 24

/** Hours at which most call, each for about an hour. */
const peakHours = [7.5, 13, 19.5] as const
const peakCallsPerS = 52
const peakWidth = 0.6
const nightCallsPerS = 1
const dayCallsPerS = 7

/** From one call a second at night to sixty at a peak. */
export function callsPerS(hour: number): number {
  const daylight = Math.max(0, Math.sin(((hour - 5) / 18) * Math.PI))
  const peaks = peakHours.map((at) => Math.exp(-(((hour - at) / peakWidth) ** 2)))
  return nightCallsPerS + dayCallsPerS * daylight + peakCallsPerS * Math.max(...peaks)
}

const incident = { from: 15, to: 16, share: 0.4 } as const

/** In percent; what is left are plain streams. */
const usualShares: readonly (readonly [CallKind, number])[] = [
  ['json', 28],
  ['embedding', 10],
  ['long stream', 2],
  ['large prompt', 3],
  ['leaves in upload', 2],
  ['leaves waiting', 2],
  ['leaves reading', 3],
]

const incidentKinds = ['answered 429', 'answered 500', 'cut', 'hung'] as const

/** The kind of a client's next call at this hour. */
export function kindAt(hour: number, random: () => number): CallKind {
  if (hour >= incident.from && hour < incident.to && random() < incident.share)
    return incidentKinds[Math.floor(random() * incidentKinds.length)] ?? 'cut'
  let percent = random() * 100
  for (const [kind, share] of usualShares) {
    percent -= share
    if (percent < 0) return kind
  }
  return 'stream'
}

const between = (random: () => number, low: number, high: number): number =>
  Math.round(low + random() * (high - low))

export function planCall(
  n: number,
  kind: CallKind,
  random: () => number,
  session: string | null = null,
): PlannedCall {
  const isLong = kind === 'long stream' || kind === 'leaves reading'
  const stream = isLong || kind === 'stream' || kind === 'cut' || (kind === 'agent turn' && random() < 0.7)
  const isLarge = kind === 'large prompt'
  // Whoever leaves while waiting must not be answered before.
  const firstMs = kind === 'leaves waiting' ? 3000 : between(random, 10, stream ? 80 : 250)
  return {
    n,
    kind,
    stream,
    asksUsage: random() < 0.5,
    input: between(random, 10, isLarge ? 200_000 : 3000),
    output: kind === 'embedding' ? 0 : isLong ? between(random, 150, 300) : between(random, 3, 25),
    firstMs,
    gapMs: between(random, 10, 30),
    promptBytes: isLarge ? between(random, 100_000, 800_000) : between(random, 50, 4000),
    session,
    leaveMs: between(random, 50, 800),
  }
}

export function isLeaving({ kind }: PlannedCall): boolean {
  return kind.startsWith('leaves')
}

export const models = { chat: 'soak-chat', embedding: 'soak-embed' } as const

export function modelOf({ kind }: PlannedCall): string {
  return kind === 'embedding' ? models.embedding : models.chat
}

export function pathOf({ kind, n }: PlannedCall): string {
  return `/v1/${kind === 'embedding' ? 'embeddings' : 'chat/completions'}?call=${n}`
}
