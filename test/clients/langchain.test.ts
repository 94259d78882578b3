import { HumanMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { type ReplyStep, cut, stall, until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import {
  chatCompletion,
  chatEvent,
  clientTimeoutMs,
  openStream,
  placeSchema,
  type Scenario,
  startStage,
  streamedToolCall,
  streamReply,
  timingOut,
  tryBothWays,
  wholeToolCall,
} from './both-ways.ts'

const stage = await startStage()

type Settings = NonNullable<ConstructorParameters<typeof ChatOpenAI>[0]>
type Act = (model: ChatOpenAI, seen: () => void, asked: () => Promise<void>) => Promise<unknown>

function scenario(
  name: string,
  act: Act,
  rest: Omit<Scenario, 'name' | 'act'>,
  settings: Partial<Exclude<Settings, string>> = {},
): Scenario {
  return { name, act: (origin, seen, asked) => act(chatModel(origin, settings), seen, asked), ...rest }
}

function chatModel(origin: string, settings: Partial<Exclude<Settings, string>>): ChatOpenAI {
  const configuration = { baseURL: `${origin}/v1` }
  return new ChatOpenAI({
    model: 'm',
    apiKey: 'sk-test',
    maxRetries: 0,
    timeout: 60_000,
    configuration,
    ...settings,
  })
}

const messages = [new HumanMessage('What does a weir do?')]
const level = tool(({ at }: { at: string }) => `high at ${at}`, {
  name: 'level',
  description: 'how high the water is',
  schema: placeSchema,
})

const chat: Act = async (model) => {
  const { content, usage_metadata, tool_calls } = await model.invoke(messages)
  return { content, usage_metadata, tool_calls }
}
const streamed: Act = async (model) =>
  (await Array.fromAsync(await model.stream(messages))).map(({ content, usage_metadata }) => ({
    content,
    usage_metadata,
  }))

const failure = (status: number): ReplyStep[] =>
  jsonReply(status, { error: { message: 'Not now', type: 'some_error', param: null, code: 'some_code' } })

tryBothWays(stage, [
  scenario('chat', chat, { gives: /The weir holds the water back\..*"input_tokens":11/ }),
  scenario('a stream, for which it asks usage itself', streamed, {
    gives: /"content":"weir ".*"total_tokens":18/,
  }),
  scenario(
    'a stream for which it asks none',
    streamed,
    { gives: /"content":"weir "(?!.*total_tokens)/ },
    { streamUsage: false },
  ),
  scenario('a tool call', async (model) => (await model.bindTools([level]).invoke(messages)).tool_calls, {
    replies: () => [jsonReply(200, wholeToolCall)],
    gives: /"args":\{"at":"the weir"\}/,
  }),
  scenario(
    'a streamed tool call',
    async (model) => {
      const chunks = await Array.fromAsync(await model.bindTools([level]).stream(messages))
      return chunks.reduce((whole, chunk) => whole.concat(chunk)).tool_calls
    },
    { replies: () => [streamReply(streamedToolCall)], gives: /"args":\{"at":"the weir"\}/ },
    { streamUsage: false },
  ),
  scenario(
    'structured output',
    (model) =>
      model.withStructuredOutput(placeSchema, { method: 'jsonSchema', name: 'place' }).invoke(messages),
    {
      replies: () => [jsonReply(200, chatCompletion({ role: 'assistant', content: '{"at":"the weir"}' }))],
      gives: /"result":\{"at":"the weir"\}/,
    },
  ),
  {
    name: 'embeddings',
    act: (origin) =>
      new OpenAIEmbeddings({
        model: 'm',
        apiKey: 'sk-test',
        maxRetries: 0,
        configuration: { baseURL: `${origin}/v1` },
      }).embedDocuments(['a', 'b']),
    gives: /\[0\.25,-0\.5,0\.75\]/,
  },
  ...[400, 401, 403, 404, 409, 422, 429, 500, 503].flatMap((status) => [
    scenario(`the error for ${status}`, chat, {
      replies: () => [failure(status)],
      gives: new RegExp(`"class":"\\w+Error".*"status":${status}`),
    }),
    scenario(`the error for ${status}, streamed`, streamed, {
      replies: () => [failure(status)],
      gives: new RegExp(`"class":"\\w+Error".*"status":${status}`),
    }),
  ]),
  scenario(
    'a retry after 503',
    chat,
    { replies: () => [failure(503)], gives: /The weir holds/, requests: 2 },
    { maxRetries: 1 },
  ),
  scenario(
    'a stream that the upstream breaks off',
    async (model, seen) => {
      for await (const _ of await model.stream(messages)) seen()
    },
    {
      replies: (seen) => [openStream([chatEvent({ role: 'assistant', content: 'a' })], until(seen), cut())],
      gives: /terminated/,
    },
  ),
  scenario(
    'an abort in a stream',
    async (model) => {
      const leave = new AbortController()
      const seen: unknown[] = []
      for await (const chunk of await model.stream(messages, { signal: leave.signal })) {
        seen.push(chunk.content)
        leave.abort()
      }
      return seen
    },
    {
      replies: () => [openStream([chatEvent({ role: 'assistant', content: 'a' })], stall())],
      gives: /abort/i,
      leaves: true,
    },
  ),
  scenario(
    'a time-out of the client',
    (model, seen, asked) => timingOut(() => chat(model, seen, asked), asked),
    { replies: () => [[stall()]], gives: /timeout|timed out/i, leaves: true },
    { timeout: clientTimeoutMs },
  ),
])
