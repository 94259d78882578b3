import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { type ReplyStep, cut, stall, until } from '../support/reply-step.ts'
import { jsonReply, sseEvent } from '../support/response-bytes.ts'
import {
  chatCompletion,
  chatEvent,
  openStream,
  placeSchema,
  type Scenario,
  startStage,
  streamedToolCall,
  streamReply,
  tryBothWays,
  wholeToolCall,
} from './both-ways.ts'

const stage = await startStage()

type Provider = ReturnType<typeof createOpenAICompatible>
type Act = (provider: Provider, seen: () => void, asked: () => Promise<void>) => Promise<unknown>

function scenario(
  name: string,
  act: Act,
  rest: Omit<Scenario, 'name' | 'act'>,
  includeUsage = false,
): Scenario {
  const settings = { name: 'weir', apiKey: 'sk-test', supportsStructuredOutputs: true, includeUsage }
  return {
    name,
    act: (origin, seen, asked) =>
      act(createOpenAICompatible({ ...settings, baseURL: `${origin}/v1` }), seen, asked),
    ...rest,
  }
}

const prompt = 'What does a weir do?'
const place = jsonSchema<{ at: string }>(placeSchema)
const level = tool({ inputSchema: place, execute: ({ at }) => Promise.resolve(`high at ${at}`) })
const quiet = { maxRetries: 0, onError: (): void => {} }

const chat: Act = async (provider) => {
  const { text, finishReason, usage } = await generateText({ model: provider('m'), prompt, maxRetries: 0 })
  return { text, finishReason, usage }
}
const parts: Act = async (provider) =>
  Array.fromAsync(streamText({ model: provider('m'), prompt, ...quiet }).textStream)

/** Everything that a stream is told to be, errors among it; without what is told of the answer's head. */
const told: Act = async (provider, seen) => {
  const types: unknown[] = []
  for await (const part of streamText({ model: provider('m'), prompt, ...quiet }).fullStream) {
    if (part.type === 'error') throw part.error
    types.push(part.type)
    if (part.type === 'text-delta') seen()
  }
  return types
}

const failure = (status: number): ReplyStep[] =>
  jsonReply(status, { error: { message: 'Not now', type: 'some_error', param: null, code: 'some_code' } }, [
    ['retry-after-ms', '1'],
  ])

tryBothWays(stage, [
  scenario('chat', chat, { gives: /The weir holds the water back\..*"inputTokens":11/ }),
  scenario('a stream', parts, { gives: /\["The ","weir ","holds "/ }),
  scenario('all parts of a stream', told, { gives: /"text-delta".*"finish"\]/ }),
  scenario(
    'a stream with usage',
    async (provider) => streamText({ model: provider('m'), prompt, ...quiet }).totalUsage,
    { gives: /"inputTokens":11.*"outputTokens":7/ },
    true,
  ),
  scenario(
    'a tool that is run, and its result sent back',
    async (provider) => {
      const { text, steps } = await generateText({
        model: provider('m'),
        prompt,
        tools: { level },
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      })
      return { text, results: steps.map((step) => step.toolResults.map((result) => result.output)) }
    },
    {
      replies: () => [jsonReply(200, wholeToolCall)],
      gives: /The weir holds.*"high at the weir"/,
      requests: 2,
    },
  ),
  scenario(
    'a streamed tool call',
    async (provider) => {
      const stream = streamText({ model: provider('m'), prompt, tools: { level }, ...quiet })
      return (await stream.toolCalls).map((call) => call.input)
    },
    { replies: () => [streamReply(streamedToolCall)], gives: /\{"at":"the weir"\}/ },
  ),
  scenario(
    'structured output',
    async (provider) => {
      const { output } = await generateText({
        model: provider('m'),
        prompt,
        output: Output.object({ schema: place }),
        maxRetries: 0,
      })
      return output
    },
    {
      replies: () => [jsonReply(200, chatCompletion({ role: 'assistant', content: '{"at":"the weir"}' }))],
      gives: /\{"at":"the weir"\}/,
    },
  ),
  scenario(
    'embeddings',
    async (provider) => {
      const { embeddings, usage } = await embedMany({
        model: provider.embeddingModel('m'),
        values: ['a', 'b'],
        maxRetries: 0,
      })
      return { embeddings, usage }
    },
    { gives: /\[0\.25,-0\.5,0\.75\]/ },
  ),
  ...[400, 401, 403, 404, 409, 422, 429, 500, 503].flatMap((status) => [
    scenario(`the error for ${status}`, chat, {
      replies: () => [failure(status)],
      gives: new RegExp(`"AI_APICallError".*"statusCode":${status}`),
    }),
    scenario(`the error for ${status}, streamed`, told, {
      replies: () => [failure(status)],
      gives: new RegExp(`"AI_APICallError".*"statusCode":${status}`),
    }),
  ]),
  ...[408, 429, 500, 503].map((status) =>
    scenario(
      `two retries after ${status}`,
      async (provider) => (await generateText({ model: provider('m'), prompt, maxRetries: 2 })).text,
      { replies: () => [failure(status), failure(status)], gives: /The weir holds/, requests: 3 },
    ),
  ),
  scenario(
    'retries that come to nothing',
    (provider) => generateText({ model: provider('m'), prompt, maxRetries: 1 }),
    {
      replies: () => [failure(503), failure(503)],
      gives: /"AI_RetryError".*maxRetriesExceeded.*"AI_APICallError"/,
      requests: 2,
    },
  ),
  scenario('an error inside a stream', told, {
    replies: () => [streamReply([chatEvent({ content: 'a' }), sseEvent({ error: { message: 'Oh no' } })])],
    gives: /Oh no/,
  }),
  scenario('a stream that the upstream breaks off', told, {
    replies: (seen) => [openStream([chatEvent({ content: 'a' })], until(seen), cut())],
    gives: /"AI_APICallError".*Failed to process successful response/,
  }),
  scenario(
    'an abort in a stream',
    async (provider) => {
      const leave = new AbortController()
      const { fullStream } = streamText({ model: provider('m'), prompt, abortSignal: leave.signal, ...quiet })
      const seen: string[] = []
      for await (const part of fullStream) {
        seen.push(part.type)
        if (part.type === 'text-delta') leave.abort()
      }
      return seen
    },
    {
      replies: () => [openStream([chatEvent({ role: 'assistant', content: 'a' })], stall())],
      gives: /"text-delta","abort"\]/,
      leaves: true,
    },
  ),
  scenario(
    'a time-out of the client',
    (provider, _, asked) => {
      // As `AbortSignal.timeout` aborts, once the request is at the upstream.
      const over = new AbortController()
      void asked().then(() =>
        over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      )
      return generateText({ model: provider('m'), prompt, maxRetries: 0, abortSignal: over.signal })
    },
    { replies: () => [[stall()]], gives: /TimeoutError/, leaves: true },
  ),
])
