import { compilePlaces, type JsonPlace } from '../../json/json-place.ts'

/** Longest usage, timings, error or name that is read. */
const object = 16 * 1024
const name = 512
/** Longest finish reason; there may be one for each of many choices. */
const word = 64
/** Longest request id, with its quotes. */
const id = 202
/** Enough to tell `null`, `""` and `[]` from more than that. */
const presence = 4

/**
 * What is wanted of an answer: how many bytes of it at most, and where the answers of all known upstreams hold it,
 * streamed events and whole bodies alike. The places are those of OpenAI's APIs, then of others: `message`,
 * `content_block` and `delta` of Anthropic, `metrics` of vLLM, `time_info` of Cerebras, `x_groq` of Groq, `meta` of
 * Cohere, parts of content of Mistral; errors nested, flat, of TGI, FastAPI, Gemini (in a list) and OpenRouter (in a choice).
 */
const wanted = {
  /** Content that a reader sees, refusals and tool calls included. */
  visible: [
    presence,
    'choices[].text',
    'choices[].delta.content',
    'choices[].delta.refusal',
    'choices[].delta.tool_calls[].function.arguments',
    'choices[].delta.tool_calls[].custom.input',
    'choices[].delta.function_call.arguments',
    'choices[].delta.audio.data',
    'choices[].delta.audio.transcript',
    'choices[].delta.content[].text',
    'delta.text',
    'delta.partial_json',
  ],
  reasoning: [
    presence,
    'choices[].delta.reasoning_content',
    'choices[].delta.reasoning',
    'choices[].delta.content[].thinking',
    'choices[].delta.content[].thinking[].text',
    'delta.thinking',
  ],
  /** The name of a tool that is called: content that a reader sees, too. */
  toolName: [
    name,
    'choices[].delta.tool_calls[].function.name',
    'choices[].delta.tool_calls[].custom.name',
    'choices[].delta.function_call.name',
    'choices[].message.tool_calls[].function.name',
    'choices[].message.tool_calls[].custom.name',
    'choices[].message.function_call.name',
    'content_block.name',
  ],
  /** Ends with each call of a chat; a stream tells of one several times. */
  toolCall: [0, 'choices[].delta.tool_calls[]', 'choices[].message.tool_calls[]'],
  toolIndex: [name, 'choices[].delta.tool_calls[].index'],
  toolId: [id, 'choices[].delta.tool_calls[].id'],
  /** Ends with each item of an output of Responses, and each block of content of Messages. */
  item: [0, 'output[]', 'content[]', 'response.output[]', 'item', 'content_block'],
  itemType: [
    word,
    'output[].type',
    'content[].type',
    'response.output[].type',
    'item.type',
    'content_block.type',
  ],
  itemName: [name, 'output[].name', 'content[].name', 'response.output[].name', 'item.name'],
  /** The increment of a Responses event, whose `type` says of what. */
  typedDelta: [presence, 'delta'],
  /** Ends with each element of `choices`. */
  choice: [0, 'choices[]'],
  choiceIndex: [name, 'choices[].index'],
  finishReason: [word, 'choices[].finish_reason'],
  model: [name, 'model', 'response.model', 'message.model'],
  object: [name, 'object'],
  type: [name, 'type'],
  serviceTier: [name, 'service_tier', 'response.service_tier'],
  usage: [object, 'usage', 'response.usage', 'x_groq.usage'],
  startUsage: [object, 'message.usage'],
  timings: [object, 'timings'],
  metrics: [object, 'metrics', 'response.metrics'],
  timeInfo: [object, 'time_info'],
  meta: [object, 'meta'],
  requestId: [id, 'request_id', 'x_groq.id'],
  status: [name, 'status'],
  stopReason: [
    word,
    'stop_reason',
    'delta.stop_reason',
    'incomplete_details.reason',
    'response.incomplete_details.reason',
  ],
  /** The list of embeddings or models: only whether it is there. */
  list: [presence, 'data'],
  error: [object, 'error', '[].error', 'x_groq.error'],
  /** The error of one choice, which spoils the whole. */
  choiceError: [object, 'choices[].error'],
  error_type: [name, 'error_type'],
  message: [object, 'message'],
  code: [name, 'code'],
  detail: [object, 'detail'],
} as const satisfies Readonly<Record<string, readonly [limit: number, ...paths: string[]]>>

export type AnswerPart = keyof typeof wanted

/** What stands at a place, by the place's id. */
export const answerParts: readonly AnswerPart[] = Object.keys(wanted) as AnswerPart[]

/** Shared by all meters; peeking does not change it. */
export const answerPlaces: JsonPlace = compilePlaces(
  Object.values(wanted).flatMap(([limit, ...paths], id) => paths.map((path) => ({ path, id, limit }))),
)
