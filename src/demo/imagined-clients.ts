import { type Random, between, drawFrom, integerBetween, pickOne } from './random.ts'
import { simulatedText } from './simulated-text.ts'

/** A call that an imagined client makes: a POST, or without a body a GET. */
export interface DemoCall {
  /** Below the gateway's base URL: `/chat/completions`. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: object
  readonly session?: string
  /** When the client loses patience and leaves; it waits for the end unless told. */
  readonly leaveAfterMs?: number
}

/** One thing that an imagined client does: it waits so many milliseconds, or makes calls together and waits for their end. */
export type DemoStep = number | readonly DemoCall[]

/** Somebody who uses the gateway. What they do never ends, depends on nobody's answer, and is only planned here. */
export interface ImaginedClient {
  /** The value of `x-tokenweir-client`. */
  readonly name: string
  steps(random: Random): Generator<DemoStep>
}

const questions = [
  'What does a weir do?',
  'How is the flow over a weir measured?',
  'Why is a V-shaped notch better for small flows?',
  'How do fish get past it?',
  'Who decided how high the crest had to be?',
  'And what happens when it floods?',
] as const

/** As most clients ask that care for what they spend. */
const streamed = { stream: true, stream_options: { include_usage: true } }

/** The small one is asked twice as often as each of the others. */
const chatModels = ['simulated-small', 'simulated-small', 'simulated-large', 'simulated-reasoner'] as const

const gaugeTools = ['read_gauge', 'open_sluice', 'write_report'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { station: { type: 'string' } } } },
}))

/** People who chat: a question, the answer as it is written, some time to read it, the next question. */
const chatApp: ImaginedClient = {
  name: 'demo-chat-app',
  *steps(random) {
    yield between(random, 200, 4000)
    for (;;) {
      const session = newSession('chat', random)
      const messages: unknown[] = [{ role: 'system', content: 'You are a patient river engineer.' }]
      yield [{ path: '/models', session }]
      for (let turns = integerBetween(random, 2, 5); turns > 0; turns--) {
        messages.push({ role: 'user', content: pickOne(random, questions) })
        yield [chat(session, { model: pickOne(random, chatModels), messages: [...messages], ...streamed })]
        messages.push({ role: 'assistant', content: simulatedText(60, random) })
        yield drawFrom(random, { median: 5000, sigma: 0.5 })
      }
      yield between(random, 4000, 12_000)
    }
  },
}

/**
 * An agent: it calls one tool after the other under a long prompt, then hands out more work at once than there
 * are slots, and sums up.
 */
const agent: ImaginedClient = {
  name: 'demo-agent',
  *steps(random) {
    yield 2500
    for (;;) {
      const session = newSession('agent', random)
      const model = 'simulated-large'
      const messages: unknown[] = [
        { role: 'system', content: simulatedText(700, random) },
        { role: 'user', content: 'Look after the gauges, and report.' },
      ]
      for (const [i, tool] of gaugeTools.entries()) {
        yield [chat(session, { model, messages: [...messages], tools: gaugeTools, ...streamed })]
        const call = {
          id: `call_${i}`,
          type: 'function',
          function: { name: tool.function.name, arguments: '{}' },
        }
        messages.push({ role: 'assistant', content: null, tool_calls: [call] })
        messages.push({
          role: 'tool',
          tool_call_id: call.id,
          content: `{"level_cm": ${integerBetween(random, 20, 90)}}`,
        })
        yield between(random, 100, 900)
      }
      yield handedOut(session, random)
      yield [chat(session, { model, messages: [...messages], tools: gaugeTools })]
      yield between(random, 12_000, 28_000)
    }
  },
}

/** A job that embeds a library, three batches at a time; its nights are short here. */
const indexer: ImaginedClient = {
  name: 'demo-nightly-indexer',
  *steps(random) {
    yield 6000
    for (;;) {
      const session = newSession('index', random)
      for (let batches = integerBetween(random, 4, 7); batches > 0; batches--) {
        yield Array.from({ length: 3 }, () => embedding(session, random))
        yield between(random, 100, 500)
      }
      yield between(random, 25_000, 50_000)
    }
  },
}

/** An editor that asks how the line goes on. */
const editor: ImaginedClient = {
  name: 'demo-editor',
  *steps(random) {
    yield 1200
    for (;;) {
      for (let lines = integerBetween(random, 2, 6); lines > 0; lines--) {
        const max_tokens = integerBetween(random, 12, 40)
        const body = { model: 'simulated-small', prompt: 'let level = gauge.', max_tokens }
        yield [{ path: '/completions', body }]
        yield drawFrom(random, { median: 1800, sigma: 0.4 })
      }
      yield between(random, 6000, 18_000)
    }
  },
}

/** A person who asks for much and seldom stays to the end. */
const impatientPerson: ImaginedClient = {
  name: 'demo-impatient-person',
  *steps(random) {
    yield 5000
    for (;;) {
      const model = pickOne(random, ['simulated-large', 'simulated-reasoner'])
      const messages = [{ role: 'user', content: pickOne(random, questions) }]
      const call = chat(newSession('visit', random), { model, messages, stream: true })
      yield [random() < 0.75 ? { ...call, leaveAfterMs: between(random, 200, 3000) } : call]
      yield between(random, 8000, 25_000)
    }
  },
}

/** Everybody who uses the demo; the chat app has two people. */
export const imaginedClients: readonly ImaginedClient[] = [
  chatApp,
  chatApp,
  agent,
  indexer,
  editor,
  impatientPerson,
]

/** A burst that no four slots can hold. */
function handedOut(session: string, random: Random): DemoCall[] {
  return Array.from({ length: integerBetween(random, 6, 9) }, (_, i) => {
    const messages = [{ role: 'user', content: `Part ${i + 1}: ${pickOne(random, questions)}` }]
    return chat(session, { model: 'simulated-small', messages, ...(random() < 0.5 ? streamed : {}) })
  })
}

function embedding(session: string, random: Random): DemoCall {
  const input = Array.from({ length: integerBetween(random, 8, 48) }, () => simulatedText(40, random))
  return { path: '/embeddings', session, body: { model: 'simulated-embedder', input } }
}

function chat(session: string, body: object): DemoCall {
  return { path: '/chat/completions', session, body }
}

function newSession(what: string, random: Random): string {
  return `${what}-${integerBetween(random, 0, 0xffffff).toString(16).padStart(6, '0')}`
}
