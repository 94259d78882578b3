import { type Random, between, drawFrom, integerBetween, pickOne } from './random.ts'
import { simulatedText } from './simulated-text.ts'

/** A call of a demo client: a POST, or, without a body, a GET. */
export interface DemoCall {
  /** Below the gateway's base URL: `/chat/completions`. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: object
  readonly session?: string
  /** Time (ms) after which the client leaves (default: it waits for the end). */
  readonly leaveAfterMs?: number
}

/** A step of a demo client: a wait in milliseconds, or calls that run together until all have ended. */
export type DemoStep = number | readonly DemoCall[]

/** A simulated user of the gateway. The steps are planned here and do not depend on answers. */
export interface DemoClient {
  /** The value of `x-tokenweir-client`. */
  readonly name: string
  /** Yields the steps of a round, which the client repeats. Each round is a separate session. */
  readonly round: (random: Random, session: string) => Generator<DemoStep>
}

/** The steps of a client, without an end. */
export function* stepsOf({ name, round }: DemoClient, random: Random): Generator<DemoStep> {
  yield between(random, 200, 6000)
  for (;;) {
    yield* round(random, sessionOf(name, random))
  }
}

/** The name of a session of a client. */
export function sessionOf(name: string, random: Random): string {
  const number = integerBetween(random, 0, 0xffffff).toString(16).padStart(6, '0')
  return `${name.replace('demo-', '')}-${number}`
}

const questions = [
  'What does a weir do?',
  'How is the flow over a weir measured?',
  'Why is a V-shaped notch better for small flows?',
  'How do fish get past it?',
  'Who decided how high the crest had to be?',
  'And what happens when it floods?',
] as const

/** The settings of a stream that reports its usage. */
const streamed = { stream: true, stream_options: { include_usage: true } }

/** The small model gets twice as many calls as each of the others. */
const chatModels = ['simulated-small', 'simulated-small', 'simulated-large', 'simulated-reasoner'] as const

/** A person who chats: asks a question, reads the answer, and asks the next one. */
function* conversation(random: Random, session: string): Generator<DemoStep> {
  const messages: object[] = [{ role: 'system', content: 'You are a patient river engineer.' }]
  yield [{ path: '/models', session }]
  for (let turns = integerBetween(random, 2, 5); turns > 0; turns--) {
    messages.push({ role: 'user', content: pickOne(random, questions) })
    yield [chat(session, { model: pickOne(random, chatModels), messages: [...messages], ...streamed })]
    messages.push({ role: 'assistant', content: simulatedText(60, random) })
    yield drawFrom(random, { median: 5000 })
  }
  yield between(random, 4000, 12_000)
}

const gaugeTools = ['read_gauge', 'open_sluice', 'write_report'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { station: { type: 'string' } } } },
}))

/** The prompts of the agent's user, in order. */
const orders = ['Look after the gauges, and report.', 'Now those above the weir.'] as const

/**
 * An agent that calls one tool after the other, while the results lengthen its prompt. Then the agent starts more
 * calls at once than there are slots. The final summary has no tools, so the cache contains nothing of its prompt.
 */
function* taskWithTools(random: Random, session: string): Generator<DemoStep> {
  const messages: object[] = [{ role: 'system', content: simulatedText(900, random) }]
  const model = 'simulated-large'
  for (const content of orders) {
    messages.push({ role: 'user', content })
    for (const tool of gaugeTools) {
      yield [chat(session, { model, tools: gaugeTools, messages: [...messages], ...streamed })]
      const id = `call_${messages.length}`
      const call = { id, type: 'function', function: { name: tool.function.name, arguments: '{}' } }
      const read = simulatedText(integerBetween(random, 150, 600), random)
      messages.push({ role: 'assistant', content: null, tool_calls: [call] })
      messages.push({ role: 'tool', tool_call_id: id, content: read })
      yield drawFrom(random, { median: 1200 })
    }
  }
  yield Array.from({ length: integerBetween(random, 6, 9) }, (_, i) => {
    const part = [{ role: 'user', content: `Part ${i + 1}: ${pickOne(random, questions)}` }]
    return chat(session, { model: 'simulated-small', messages: part, ...(random() < 0.5 ? streamed : {}) })
  })
  yield [chat(session, { model, messages })]
  yield between(random, 40_000, 80_000)
}

/** A nightly job that embeds a library, three batches at a time. The demo's nights are short. */
function* nightOfIndexing(random: Random, session: string): Generator<DemoStep> {
  const texts = (): readonly string[] =>
    Array.from({ length: integerBetween(random, 8, 48) }, () => simulatedText(40, random))
  for (let batches = integerBetween(random, 4, 7); batches > 0; batches--) {
    const batch = [texts(), texts(), texts()]
    yield batch.map((input) => ({
      path: '/embeddings',
      session,
      body: { model: 'simulated-embedder', input },
    }))
    yield between(random, 100, 500)
  }
  yield between(random, 90_000, 150_000)
}

/** An editor that asks for completions of a line, without a session. */
function* linesOfCode(random: Random): Generator<DemoStep> {
  for (let lines = integerBetween(random, 2, 6); lines > 0; lines--) {
    const max_tokens = integerBetween(random, 12, 40)
    yield [
      { path: '/completions', body: { model: 'simulated-small', prompt: 'let level = gauge.', max_tokens } },
    ]
    yield drawFrom(random, { median: 1800 })
  }
  yield between(random, 20_000, 50_000)
}

/** A person who asks for long answers and seldom waits for the end. */
function* impatientQuestion(random: Random, session: string): Generator<DemoStep> {
  const model = pickOne(random, ['simulated-large', 'simulated-reasoner'])
  const messages = [{ role: 'user', content: pickOne(random, questions) }]
  const call = chat(session, { model, messages, stream: true })
  yield [random() < 0.75 ? { ...call, leaveAfterMs: between(random, 200, 3000) } : call]
  yield between(random, 8000, 25_000)
}

/** All demo clients; two people use the chat app. */
export const demoClients: readonly DemoClient[] = [
  { name: 'demo-chat-app', round: conversation },
  { name: 'demo-chat-app', round: conversation },
  { name: 'demo-agent', round: taskWithTools },
  { name: 'demo-nightly-indexer', round: nightOfIndexing },
  { name: 'demo-editor', round: linesOfCode },
  { name: 'demo-impatient-person', round: impatientQuestion },
]

function chat(session: string, body: object): DemoCall {
  return { path: '/chat/completions', session, body }
}
